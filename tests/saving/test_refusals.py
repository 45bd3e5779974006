"""What a model file cannot hold is refused when it is saved; a file that is not as it was saved, when it is loaded."""

import hashlib
import io
import json
import os
import stat
import struct
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import lpjt
from lpjt import LPJT, Kernel, ModelFileError
from lpjt.saving import save
from problems import shifted_pair

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def model():
    X, y, X_target, _ = shifted_pair()
    return LPJT(random_state=0, classifier="svm", candidates=None).fit(X, y, X_target)


@pytest.fixture
def path(model, tmp_path):
    save(model, tmp_path / "model.lpjt")
    return tmp_path / "model.lpjt"


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, contents, *, method=zipfile.ZIP_STORED, comment=None):
    """Write members as a forger would: with the right checksum of the JSON."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
        digest = hashlib.sha256(contents.get("model.json", b"")).hexdigest()
        archive.comment = (digest if comment is None else comment).encode()


def forged(path, change):
    """The file with a JSON that was changed."""
    contents = members(path)
    tree = json.loads(contents["model.json"])
    change(tree)
    contents["model.json"] = json.dumps(tree).encode()
    write(path, contents)
    return path


def with_array(path, name, data):
    """The file with another array, all its sizes and checksums made right."""
    contents = members(path)
    tree = json.loads(contents["model.json"])
    contents[f"{name}.npy"] = data
    tree["arrays"][name] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    contents["model.json"] = json.dumps(tree).encode()
    write(path, contents)
    return path


def _with_key(value, key):
    """The dicts of a tree that have a key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for part in value.values():
            yield from _with_key(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _with_key(part, key)


def refusal(path):
    with pytest.raises(ModelFileError) as caught:
        lpjt.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": lambda a, b: float(a @ b)}, "kernel: A function"),
        ({"kernel": Kernel(lambda a, b: float(a @ b))}, "kernel.function: A function"),
        ({"classifier": RandomForestClassifier(5)}, "classifier: An object of sklearn.ensemble"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_at_save(parameters, words, tmp_path):
    X, y, X_target, _ = shifted_pair()
    model = LPJT(random_state=0, candidates=None, **parameters).fit(X, y, X_target)
    with pytest.raises(ModelFileError, match=words):
        model.save(tmp_path / "model.lpjt")
    assert list(tmp_path.iterdir()) == []


def test_a_class_of_somebody_else_is_refused(model, tmp_path):
    class Mine(LPJT):
        pass

    mine = Mine.__new__(Mine)
    mine.__dict__.update(vars(model))
    with pytest.raises(ModelFileError, match="Mine cannot be kept"):
        mine.save(tmp_path / "model.lpjt")


def test_only_a_fitted_model_is_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        LPJT().save(tmp_path / "model.lpjt")


def test_every_truncation_is_refused(path):
    content = path.read_bytes()
    for size in [0, 1, 100, *range(1000, len(content), len(content) // 17), len(content) - 1]:
        path.write_bytes(content[:size])
        assert "not a model file" in refusal(path) or "damaged" in refusal(path)


def test_a_changed_byte_anywhere_is_refused_or_harmless(path, model):
    """Bytes that change nothing are in the headers of the zip; those of the content all raise an error."""
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path) as archive:
        starts = [(i.header_offset + 30 + len(i.filename), i.file_size) for i in archive.infolist()]
    for start, size in starts:
        for place in start + 100 + rng.integers(max(size - 200, 1), size=3):
            changed = bytearray(content)
            changed[place] ^= 0xFF
            path.write_bytes(changed)
            refusal(path)


def test_a_changed_json_is_refused(path):
    contents = members(path)
    contents["model.json"] = contents["model.json"].replace(b'"linear"', b'"lineal"')
    write(path, contents, comment="0" * 64)
    assert "checksum of model.json is wrong" in refusal(path)


def test_a_changed_array_is_refused(path):
    contents = members(path)
    contents["a0.npy"] = contents["a0.npy"][:-1] + b"\x01"
    write(path, contents)
    assert "checksum of a0.npy is wrong" in refusal(path)


def test_a_newer_file_is_refused(path):
    def newer(tree):
        tree["format_version"] = 99
        tree["versions"]["lpjt"] = "7.0"

    assert "written by a newer lpjt (7.0; format 99" in refusal(forged(path, newer))


def test_other_files_are_refused(tmp_path):
    for content in (b"", b"hello", b"PK\x05\x06" + bytes(18)):
        (tmp_path / "x").write_bytes(content)
        assert "not a model file" in refusal(tmp_path / "x")
    write(tmp_path / "x", {"model.json": b'{"arrays": {}}'})
    assert "not a model file of lpjt" in refusal(tmp_path / "x")
    assert "directory" in refusal(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nothing: no such file. Check the path"):
        lpjt.load(tmp_path / "nothing")


def test_members_that_do_not_belong_are_refused(path):
    contents = members(path)
    write(path, {**contents, "evil.pkl": b"x"})
    assert "'evil.pkl' is missing, or does not belong" in refusal(path)
    write(path, {name: content for name, content in contents.items() if name != "a1.npy"})
    assert "'a1.npy' is missing" in refusal(path)


def test_compressed_members_are_refused(path):
    """A zip bomb needs compression, or members that overlap."""
    write(path, members(path), method=zipfile.ZIP_DEFLATED)
    assert "compressed" in refusal(path)


def test_members_that_claim_more_than_the_file_has_are_refused(path):
    content = bytearray(path.read_bytes())
    where = content.index(b"PK\x01\x02")
    content[where + 20 : where + 28] = struct.pack("<II", 2**31, 2**31)
    path.write_bytes(content)
    assert "overlap" in refusal(path)


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "sklearn.utils.Bunch", "lpjt.core.blocks.Chunked", "lpjt.core.nothing.X",
     "lpjt.classifiers.inductive.has_fit_parameter", "lpjt.study.store.Store", "lpjt.core.coordinates.np.ndarray",
     "subprocess.Popen", "lpjt.core..x", ""],
)  # fmt: skip
def test_classes_that_are_not_listed_are_refused(name, path):
    def change(tree):
        tree["model"]["object"][1]["kernel"] = {"object": [name, {}]}

    assert "class" in refusal(forged(path, change))


@pytest.mark.parametrize("name", ["predict", "_open", "__class__", "__dict__", "_n_features_out", "note"])
def test_values_in_the_place_of_methods_are_refused(name, path):
    def change(tree):
        tree["model"]["object"][1][name] = "x"

    assert f"unknown value {name!r}" in refusal(forged(path, change))


def test_kinds_that_do_not_exist_are_refused(path):
    values = (
        {"call": ["os.system", "true"]}, {}, {"float": "1"}, {"tuple": 3}, {"dtype": "O"}, {"dtype": "O8,f8"},
        {"array": "a999"}, {"scalar": ["<f8", "00"]}, {"objects": [[3], [1]]}, {"random_state": {"dict": []}},
        {"sparse": ["dia_array", [1, 1], [], [], []]}, {"object": ["lpjt.kernels.Kernel"]}, {"datetime": "no"},
    )  # fmt: skip
    content = path.read_bytes()
    for value in values:
        path.write_bytes(content)

        def change(tree, value=value):
            tree["model"]["object"][1]["random_state"] = value

        refusal(forged(path, change))


def test_keys_of_one_hash_are_refused(path):
    """Multiples of the modulus of Python's hash; a hundred thousand of them would take minutes."""
    keys = [[(2**61 - 1) * i, 0] for i in range(1, 100_001)]

    def change(tree):
        tree["model"]["object"][1]["random_state"] = {"dict": keys}

    assert "more than 10,000 keys that are not texts" in refusal(forged(path, change))


@pytest.mark.parametrize("name", ["_intercept_", "_dual_coef_", "support_", "_n_support"])
def test_parts_of_a_machine_that_disagree_are_refused(name, path):
    """Compiled code reads as many intercepts and coefficients as the classes need, whatever there is."""
    contents = members(path)
    tree = json.loads(contents["model.json"])
    state = next(_with_key(tree, "_n_support"))
    array = state[name]["array"]
    found = np.load(io.BytesIO(contents[f"{array}.npy"]))
    changed = np.full_like(found, 10**6) if name == "support_" else found[:-1]
    file = io.BytesIO()
    np.save(file, changed)
    with_array(path, array, file.getvalue())

    def agree(tree):
        tree["arrays"][array]["shape"] = list(changed.shape)

    assert "support vectors" in refusal(forged(path, agree))


@pytest.mark.timeout(30)
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "fifo.lpjt")
    assert "this is a FIFO, not an ordinary file" in refusal(tmp_path / "fifo.lpjt")
    (tmp_path / "zero.lpjt").symlink_to("/dev/zero")
    assert "this is a device" in refusal(tmp_path / "zero.lpjt")
    assert "File name too long" in refusal(tmp_path / ("n" * 300))


def test_versions_that_are_none_are_refused(path):
    assert "'versions' in model.json" in refusal(forged(path, lambda tree: tree.update(versions=[1])))


def test_a_header_that_is_none_is_refused(path):
    contents = members(path)
    damaged = contents["a0.npy"].replace(b"'descr'", b"(((((((")
    assert "another shape or type" in refusal(with_array(path, "a0", damaged))


def test_deep_nesting_is_refused(path):
    def change(tree):
        tree["model"] = "DEEP"

    forged(path, change)
    contents = members(path)
    contents["model.json"] = contents["model.json"].replace(b'"DEEP"', b"[" * 200_000 + b"]" * 200_000)
    write(path, contents)
    refusal(path)


def test_arrays_of_objects_are_never_loaded(path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(path.parent / "executed"),)

    file = io.BytesIO()
    np.save(file, np.array([Trap()], dtype=object), allow_pickle=True)
    assert "another shape or type" in refusal(with_array(path, "a0", file.getvalue()))
    assert not (path.parent / "executed").exists()


def test_shapes_are_checked_before_memory_is_taken(path):
    """A header that claims 2^50 numbers, and a JSON that agrees with it."""
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
    np.lib.format.write_array_header_1_0(header, about)
    with_array(path, "a0", header.getvalue() + bytes(80))

    def agree(tree):
        tree["arrays"]["a0"] |= {"shape": [2**50], "dtype": "<f8"}

    assert "another shape" in refusal(forged(path, agree))


def test_support_vectors_that_disagree_are_refused(path):
    """Compiled code would read beyond the end of an array."""
    contents = members(path)
    tree = json.loads(contents["model.json"])
    assert "_n_support" in json.dumps(tree)

    def change(tree):
        for state in _with_key(tree, "_n_support"):
            state["_n_support"] = state["support_"]

    assert "support vectors" in refusal(forged(path, change))


def test_an_older_file_may_lack_a_parameter(path, model):
    def change(tree):
        del tree["model"]["object"][1]["refine"]

    assert lpjt.load(forged(path, change)).refine is LPJT().refine


def test_parts_of_another_scikit_learn_are_told(path):
    def change(tree):
        tree["versions"]["scikit-learn"] = "0.1.2"

    with pytest.warns(UserWarning, match=r"parts of scikit-learn 0\.1\.2"):
        lpjt.load(forged(path, change))


def test_a_file_is_kept_unless_it_may_be_replaced(path, model):
    content = path.read_bytes()
    with pytest.raises(ModelFileError, match="exists and was kept"):
        model.save(path)
    assert path.read_bytes() == content
    path.write_bytes(b"old")
    os.chmod(path, 0o640)
    model.save(path, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    lpjt.load(path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_link_stays_a_link(path, model):
    link = path.parent / "latest.lpjt"
    link.symlink_to(path)
    model.save(link, overwrite=True)
    assert link.is_symlink()
    lpjt.load(link)


def test_a_failed_save_leaves_nothing(path, model, monkeypatch):
    content = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(path, overwrite=True)
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_places_that_cannot_be_written(model, tmp_path):
    for place, words in ((tmp_path, "directory"), (tmp_path / "no" / "m.lpjt", "does not exist")):
        with pytest.raises(ModelFileError, match=words):
            model.save(place)
