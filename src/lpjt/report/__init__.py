"""What people read: tables in the terminal, as Markdown, CSV and HTML, and the paper's figures."""
