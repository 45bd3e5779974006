"""Downloads from servers that break off, lie, stall, or are not there."""

import hashlib
import os
import sys
import time

import numpy as np
import pytest

import web
from datasets_small import empty_directories, with_file
from lpjt.datasets import SETS, DataError
from lpjt.datasets.fetch import check, fetch
from lpjt.datasets.where import cache_directory

pytest.importorskip("pooch")
pytest.importorskip("rich")

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
LIE = b"<html>sign in first</html>" * 1000
NAME = "amazon_SURF_L10.mat"


@pytest.fixture
def site():
    with web.serve() as running:
        yield running


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Where the file goes; there is nothing yet."""
    empty_directories(monkeypatch, tmp_path)
    return tmp_path / "cache" / SETS["surf"].folder


@pytest.fixture
def mirrors(monkeypatch, cache):
    """Give the set one file, of the contents above, with these mirrors."""
    return lambda *urls, sha256=SHA256: with_file(monkeypatch, "surf", "A", mirrors=urls, sha256=sha256, equals=())


def only_file(cache):
    """The one file of the cache: no part, no temporary file beside it."""
    (path,) = cache.iterdir()
    return path


def failure(**options):
    with pytest.raises(DataError) as caught:
        fetch("surf", progress=False, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("progress", [False, True])
def test_a_file_is_fetched_once(site, cache, mirrors, progress):
    mirrors(site.at("/good", web.well(CONTENT)))
    told = []
    paths = fetch("surf", progress=progress, on_file=lambda how, path: told.append(how))
    assert paths == [only_file(cache)] == [cache / NAME]
    assert paths[0].read_bytes() == CONTENT
    fetch("surf", progress=progress, on_file=lambda how, path: told.append(how))
    assert told == ["fetched", "found"]
    assert site.requests == [("/good", None)]


def test_a_broken_download_goes_on_where_it_stopped(site, cache, mirrors):
    mirrors(site.at("/breaks", web.breaks_off_once(CONTENT, 123_456)))
    (path,) = fetch("surf", progress=False)
    assert path.read_bytes() == CONTENT
    first, second = site.requests
    assert first == ("/breaks", None)
    assert 115_000 < int(second[1].removeprefix("bytes=").removesuffix("-")) <= 123_456
    assert only_file(cache) == path


def test_a_download_goes_on_in_a_later_call(site, cache, mirrors):
    mirrors(site.at("/breaks", web.breaks_off_always(CONTENT, 50_000)))
    message = failure()
    assert "could not be fetched" in message
    assert only_file(cache).name == f".{NAME}.part"  # a half file never has the final name
    part = only_file(cache).read_bytes()
    assert 125_000 < len(part) <= 150_000  # three attempts of 50,000 bytes, less what the breaks cost
    assert part == CONTENT[: len(part)]
    mirrors(site.at("/good", web.well(CONTENT)))
    (path,) = fetch("surf", progress=False)
    assert site.requests[-1] == ("/good", f"bytes={len(part)}-")
    assert path.read_bytes() == CONTENT
    assert only_file(cache) == path


def test_a_server_that_ignores_range_begins_again(site, cache, mirrors):
    cache.mkdir(parents=True)
    (cache / f".{NAME}.part").write_bytes(CONTENT[:1000])
    mirrors(site.at("/whole", web.ignores_range(CONTENT)))
    (path,) = fetch("surf", progress=False)
    assert site.requests == [("/whole", "bytes=1000-")]
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("old", [CONTENT[::-1][:5000], CONTENT + b"more", CONTENT])
def test_bytes_of_another_download_do_no_harm(site, cache, mirrors, old):
    cache.mkdir(parents=True)
    (cache / f".{NAME}.part").write_bytes(old)
    mirrors(site.at("/good", web.well(CONTENT)))
    (path,) = fetch("surf", progress=False)
    assert path.read_bytes() == CONTENT
    assert len(site.requests) == 2  # with what was there, then without
    assert only_file(cache) == path


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_a_planted_link_is_not_followed(site, cache, mirrors, tmp_path):
    cache.mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (cache / f".{NAME}.part").symlink_to(precious)
    mirrors(site.at("/good", web.well(CONTENT)))
    assert "symbolic links" in failure()
    assert precious.read_text() == "mine"


def test_a_liar_is_passed_over_for_the_next_mirror(site, cache, mirrors):
    mirrors(site.at("/lies", web.well(LIE)), site.at("/good", web.well(CONTENT)))
    (path,) = fetch("surf", progress=False)
    assert path.read_bytes() == CONTENT
    assert [request[0] for request in site.requests] == ["/lies", "/good"]
    assert only_file(cache) == path


def test_a_lie_is_deleted_and_both_checksums_are_named(site, cache, mirrors):
    mirrors(site.at("/lies", web.well(LIE)))
    message = failure()
    assert f"its checksum differs, {hashlib.sha256(LIE).hexdigest()} instead of {SHA256}" in message
    assert list(cache.iterdir()) == []


def test_a_stall_ends_by_timeout(site, cache, mirrors):
    mirrors(site.at("/stalls", web.stalls(CONTENT, 1000, site.closing)), site.at("/good", web.well(CONTENT)))
    begun = time.monotonic()
    (path,) = fetch("surf", progress=False, timeout=0.2)
    assert time.monotonic() - begun < 5
    assert path.read_bytes() == CONTENT


def test_each_mirror_that_fails_is_reported(site, cache, mirrors, tmp_path):
    closed = "http://127.0.0.1:9/closed"  # the discard port: nothing listens there
    mirrors(site.at("/gone", web.refuses(404)), site.at("/ill", web.refuses(503)), closed)
    message = failure(timeout=2)
    assert "/gone: answered 404 Not Found; " in message
    assert "/ill: answered 503 Service Unavailable; " in message
    assert f"{closed}: no connection" in message
    assert f"put it by hand in {tmp_path / 'data'}" in message
    assert f"or in {cache}, under the name {NAME}" in message


def test_the_second_mirror_serves_what_the_first_has_not(site, cache, mirrors):
    mirrors(site.at("/gone", web.refuses(404)), site.at("/good", web.well(CONTENT)))
    assert fetch("surf", progress=False)[0].read_bytes() == CONTENT


def test_a_spoilt_file_of_the_cache_is_fetched_again(site, cache, mirrors):
    mirrors(site.at("/good", web.well(CONTENT)))
    cache.mkdir(parents=True)
    (cache / NAME).write_bytes(CONTENT[:10])
    assert fetch("surf", progress=False)[0].read_bytes() == CONTENT


def test_a_file_of_the_user_is_left_alone(site, cache, mirrors, tmp_path):
    mirrors(site.at("/good", web.well(CONTENT)))
    own = tmp_path / "data" / NAME
    own.write_bytes(b"mine")
    assert fetch("surf", progress=False) == [own]
    assert own.read_bytes() == b"mine"
    assert site.requests == []


def test_sets_without_a_mirror_say_where_to_get_them(cache):
    for name, words in (("vgg", "fc6 of VGG-16"), ("office-images", "cannot be fetched")):
        with pytest.raises(DataError, match=words):
            fetch(name, progress=False)


def test_check_tells_ok_differs_unknown_and_missing(cache, monkeypatch, mirrors, tmp_path):
    mirrors()
    (status,) = check("surf")
    assert (status.state, status.path, status.expected) == ("missing", None, SHA256)
    path = tmp_path / "data" / NAME
    path.write_bytes(CONTENT)
    (status,) = check("surf")
    assert (status.state, status.path, status.size, status.found) == ("ok", path, 300_000, SHA256)
    path.write_bytes(LIE)
    (status,) = check("surf")
    assert (status.state, status.expected, status.found) == ("differs", SHA256, hashlib.sha256(LIE).hexdigest())
    mirrors(sha256=None)
    assert check("surf")[0].state == "unknown"


def test_the_same_contents_packed_otherwise_are_ok(cache, monkeypatch, tmp_path):
    with_file(monkeypatch, "surf", "A", sha256="0" * 64, equals=(SHA256,))
    (tmp_path / "data" / NAME).write_bytes(CONTENT)
    assert check("surf")[0].state == "ok"


def test_check_counts_the_images(cache, tmp_path):
    folder = tmp_path / "data" / "office_caltech10_images" / "webcam" / "mug"
    folder.mkdir(parents=True)
    (folder / "frame_0001.jpg").write_bytes(b"x")
    amazon, webcam = check("office-images")
    assert (amazon.state, amazon.expected) == ("missing", "958 images")
    assert (webcam.state, webcam.expected, webcam.found) == ("differs", "295 images", "1 images")


def test_without_pooch_the_remedy_is_named(cache, mirrors, monkeypatch):
    mirrors("https://127.0.0.1/never")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'lpjt\[data\]'"):
        fetch("surf", progress=False)
    monkeypatch.delenv("LPJT_CACHE")
    assert cache_directory() is None
    assert check("surf")[0].state == "missing"
