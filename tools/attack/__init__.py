"""Attacks on lpjt: adversarial fits, damaged files, kills, full disks, load. `make attack` runs them."""
