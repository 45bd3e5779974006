"""The other sets: digits, faces, objects on a turntable, reviews, and the CDLS demonstration."""

from lpjt.datasets.records import DataFile, DataSet, Domain, by_name, github

_RESEARCH = "no licence stated; for research, cite the authors"


def _lsa(name: str, path: str, sha256: str, *aliases: str) -> DataFile:
    return DataFile(name, aliases, sha256, mirrors=github("jtahmores/LSA", "4698659aa7cd", f"datasets/{path}"))


# Both files hold the same rows with source and target exchanged, so either is sufficient.
_MNIST_USPS = _lsa(
    "MNIST_vs_USPS.mat",
    "Digit/MNIST_vs_USPS.mat",
    "2b87e5a793e77826417e6c483e0850d6666c9746717bce2561db43f3f30efd4d",
)
_USPS_MNIST = _lsa(
    "USPS_vs_MNIST.mat",
    "Digit/USPS_vs_MNIST.mat",
    "77d2df99e2aab8a722c8d4ff7c93a92d8b29d409a065f12e972168d1089e2971",
)
_DIGITS = "LeCun et al., Gradient-based learning applied to document recognition, 1998; Hull, IEEE TPAMI 1994"

DIGITS = DataSet(
    "digits",
    "MNIST and USPS, 2000 + 1800 digits",
    "mnist_usps",
    by_name(
        Domain("MNIST", "MNIST, 16 x 16", (_MNIST_USPS,), 2000, twin=_USPS_MNIST),
        Domain("USPS", "USPS, 16 x 16", (_USPS_MNIST,), 1800, twin=_MNIST_USPS),
    ),
    (256,),
    10,
    "original",
    f"{_DIGITS}; Long et al., Transfer feature learning with joint distribution adaptation, ICCV 2013 (the subset)",
    _RESEARCH,
    "Long et al.'s files, in many public repositories",
    first_class=1,
)

_MNIST_HOSTS = ("https://ossci-datasets.s3.amazonaws.com/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist")


def _mnist(name: str, sha256: str, *equals: str) -> DataFile:
    """The file as first published; `equals` are checksums of its decompressed and of a recompressed copy."""
    mirrors = tuple(f"{host}/{name}.gz" for host in _MNIST_HOSTS)
    dotted = name.replace("-idx", ".idx")
    return DataFile(f"{name}.gz", (name, dotted, f"{dotted}.gz"), sha256, equals, mirrors)


MNIST_FULL = DataSet(
    "mnist-full",
    "MNIST, 70000 digits",
    "mnist_full",
    by_name(
        Domain(
            "MNIST",
            "MNIST, training then test, 28 x 28",
            (
                _mnist(
                    "train-images-idx3-ubyte",
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                    "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
                ),
                _mnist(
                    "train-labels-idx1-ubyte",
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                    "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
                ),
                _mnist(
                    "t10k-images-idx3-ubyte",
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                    "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
                ),
                _mnist(
                    "t10k-labels-idx1-ubyte",
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                    "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
                ),
            ),
            70_000,
            "idx",
        )
    ),
    (784,),
    10,
    "original",
    _DIGITS,
    "CC BY-SA 3.0",
    "the files of LeCun et al., on several hosts",
    float32=True,
)

USPS_FULL = DataSet(
    "usps-full",
    "USPS, 9298 digits",
    "usps_full",
    by_name(
        Domain(
            "USPS",
            "USPS, training then test, 16 x 16",
            (
                DataFile(
                    "usps.h5",
                    ("USPS.h5", "usps.hdf5"),
                    "734f88c541104a956d88be2c95d03b4a463ffd74ccc2ba9c80841fb98e3fcb36",
                    mirrors=github("niuers/Learning-From-Data-A-Short-Course", "879a698b960e", "data/usps.h5"),
                ),
            ),
            9298,
            "usps",
        )
    ),
    (256,),
    10,
    "original",
    _DIGITS,
    _RESEARCH,
    "usps.h5, in many public repositories",
)


def _pie(key: str, number: int, rows: int, sha256: str) -> Domain:
    file = DataFile(f"PIE{key}.mat", (f"PIE{number}.mat",), sha256)
    return Domain(key, f"camera C{key}", (file,), rows)


PIE = DataSet(
    "pie",
    "CMU PIE, five cameras",
    "pie",
    by_name(
        _pie("05", 1, 3332, "4e531fbca746ac46becbfac5beb8f04f329f455f105bff27ebb03fefad40a125"),
        _pie("07", 2, 1629, "9b22fa34abec057a1abf80c02184e752a9541c651f65384de473705a48efa035"),
        _pie("09", 3, 1632, "d4cd6ed33d087d3aaab7d5786afeb61ea902f986994695543f4de38d78a9dc14"),
        _pie("27", 4, 3329, "61bf96735ca27b4a3cbd91ff2ec7a70bf59ba73441abe2816069fc36b8e7c08c"),
        _pie("29", 5, 1632, "84ec7e20df5a1e92fd481e2a62342a83d247ba6d881c5bd8527d3986ed41ca03"),
    ),
    (1024,),
    68,
    "rebuilt",
    "Sim et al., The CMU pose, illumination, and expression database, 2003; Cai et al., Spectral regression, 2007",
    _RESEARCH,
    "PIE1.mat to PIE5.mat (or PIE05.mat, ...) are on the data page of the repository jindongwang/transferlearning; "
    "the checksums here are those of a copy rebuilt from 32 x 32 images",
    first_class=1,
)

_COIL_1 = _lsa("COIL_1.mat", "COIL20/COIL_1.mat", "5001c5bcef8d95217d66a08bdccbcaae2bc8cd3142540ed4ec38ca0796342534")
_COIL_2 = _lsa("COIL_2.mat", "COIL20/COIL_2.mat", "61a351ef5fafeb97e14faef6108c5f2c6f7d50e255057773f9ffc046e03d8082")

COIL = DataSet(
    "coil",
    "COIL20, two halves of the turntable",
    "coil20",
    by_name(
        Domain("COIL1", "first and third quarter", (_COIL_1,), 720, twin=_COIL_2),
        Domain("COIL2", "second and fourth quarter", (_COIL_2,), 720, twin=_COIL_1),
    ),
    (1024,),
    20,
    "original",
    "Nene et al., Columbia object image library (COIL-20), 1996; Long et al., ICCV 2013 (the halves)",
    _RESEARCH,
    "Long et al.'s files, in many public repositories",
    first_class=1,
)

_REVIEWS = "Blitzer et al., Biographies, Bollywood, boom-boxes and blenders, ACL 2007"


def _reviews_400(key: str, name: str, rows: int, sha256: str, *aliases: str) -> Domain:
    path = f"dataset/amazon_review/amazon_review/{name}"
    mirrors = github("luffy-yu/transfer_learning_baseline_toolbox_oop", "9420fd2dc5b7", path)
    return Domain(key, name.split("_")[0], (DataFile(name, aliases, sha256, mirrors=mirrors),), rows)


AMAZON_400 = DataSet(
    "amazon-400",
    "Amazon reviews, 400 words",
    "amazon_review_400",
    by_name(
        _reviews_400("B", "books_400.mat", 2000, "7a53b54f0c0e81e7ee4774d762a927399cede9a802a2409732ba00cc1c23a17a"),
        _reviews_400("D", "dvd_400.mat", 1999, "13a71d399f9c7ae57064952979c830455057ffd0a8da73f2c9075338d64d98ce"),
        _reviews_400(
            "E",
            "elec_400.mat",
            1998,
            "f1dd6e01c1eed956d3abe6493a6bb5efc95e6585b8b9b2d856c0c07e12893a35",
            "electronics_400.mat",
        ),
        _reviews_400("K", "kitchen_400.mat", 1999, "b1f4e5ddfbd7b37ad2638fccbf83bd8558abf63b3e8d69a9d5bca77b1a49fed5"),
    ),
    (400,),
    2,
    "original",
    _REVIEWS,
    _RESEARCH,
    "the data page of the repository jindongwang/transferlearning (Amazon review)",
    first_class=0,
)


def _reviews_5000(key: str, stem: str, part: str, rows: int, sha256: str) -> Domain:
    name = f"{stem}_{part}.svmlight"
    mirrors = github("GRAAL-Research/domain_adversarial_neural_network", "74eec5e0ae06", f"data/{name}")
    title = f"{stem}, {part} rows"
    return Domain(
        key if part == "train" else f"{key}-test", title, (DataFile(name, (), sha256, mirrors=mirrors),), rows
    )


AMAZON_5000 = DataSet(
    "amazon-5000",
    "Amazon reviews, 5000 words, sparse",
    "amazon_review_5000",
    by_name(
        _reviews_5000("B", "books", "train", 2000, "317f9a2ec34b81de770b63a84d8c5cc2dc16bd0be6e079d2ff5b5bad5213ea19"),
        _reviews_5000("D", "dvd", "train", 2000, "95f602aa08bf6b55758f7b0b18df3882fe30acb11987ee60b6b4bb3c44cba733"),
        _reviews_5000(
            "E", "electronics", "train", 2000, "7d0061f03ff3827e4f8036b051b5e5828fddc0cd115aa5b212cd28d624dc14e4"
        ),
        _reviews_5000(
            "K", "kitchen", "train", 2000, "a70b5ebfe1413e0e16280360905f5c3b64389c435cd20c0165dc9d7f293b31b5"
        ),
        _reviews_5000("B", "books", "test", 4465, "fe4605c7dcf0e0a9410fd2a32f247caaf9abb352cc6e4c3e0f400853163ad9c4"),
        _reviews_5000("D", "dvd", "test", 3586, "4fe1b1a15010f78d8d0c49fe362d35fd4677463a45f1ac02a9f410ae1e638060"),
        _reviews_5000(
            "E", "electronics", "test", 5681, "641783bc941839c3a111d3488a1b7e3bd820a61ec14a129e7429b47703aa961d"
        ),
        _reviews_5000("K", "kitchen", "test", 5945, "e1502b97a824eb12314be4447394fa736fecb781c0724e6529cd6733ac7ff6d8"),
    ),
    (5000,),
    2,
    "original",
    f"{_REVIEWS}; Chen et al., Marginalized denoising autoencoders, ICML 2012 (the counts)",
    "BSD 2-Clause (the repository that holds the files)",
    "the repository GRAAL-Research/domain_adversarial_neural_network",
)

_CDLS_FILE = DataFile(
    "amazon_DeCAF_dslr_SURF.mat",
    (),
    "7214bef6ac0d6eb85dee86b512088e6902d32b5fa7ea192f932fa757ea0cb2d1",
    mirrors=github(
        "yaohungt/Cross-Domain-Landmarks-Selection-CDLS-",
        "135d16980d38cecc82fd537727f3bbb9919fdc6b",
        "data/amazon_DeCAF_dslr_SURF.mat",
    ),
)

CDLS_DEMO = DataSet(
    "cdls-demo",
    "The demonstration of CDLS, DeCAF6 to SURF",
    "hda_cdls_demo",
    by_name(
        Domain("amazon DeCAF", "amazon, DeCAF6, 20 rows per class", (_CDLS_FILE,), 200, "cdls"),
        Domain(
            "dslr SURF", "dslr, SURF, the 3 labelled rows per class come first", (_CDLS_FILE,), 157, "cdls", "target"
        ),
    ),
    (4096, 800),
    10,
    "original",
    "Tsai et al., Learning cross-domain landmarks for heterogeneous domain adaptation, CVPR 2016",
    _RESEARCH,
    "the repository yaohungt/Cross-Domain-Landmarks-Selection-CDLS-",
    first_class=1,
)
