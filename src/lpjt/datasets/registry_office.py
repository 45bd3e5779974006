"""Sets of photographs: Office-Caltech with several kinds of features, Office-Home, VisDA."""

from lpjt.datasets.records import DataFile, DataSet, Domain, Layout, by_name, github

_OFFICE = (
    "Saenko et al., Adapting visual category models to new domains, ECCV 2010; Griffin et al., Caltech-256, 2007; "
    "Gong et al., Geodesic flow kernel for unsupervised domain adaptation, CVPR 2012 (the ten classes)"
)
_RESEARCH = "no licence stated; for research, cite the authors"
_TITLES = {"C": "Caltech-256", "A": "amazon", "W": "webcam", "D": "dslr"}
_ROWS = {"C": 1123, "A": 958, "W": 295, "D": 157}


def _domain(key: str, file: DataFile, layout: Layout = "table") -> Domain:
    return Domain(key, _TITLES[key], (file,), _ROWS[key], layout)


def _surf(key: str, name: str, sha256: str, *aliases: str) -> Domain:
    path = f"code/BDA/data/{name}"
    mirrors = github("jindongwang/transferlearning", "73cb050b7e8b969b9d0ebb04a9377aa033043eb2", path)
    return _domain(key, DataFile(name, aliases, sha256, mirrors=mirrors))


SURF = DataSet(
    "surf",
    "Office-Caltech, SURF",
    "office_caltech10_surf",
    by_name(
        _surf(
            "C",
            "Caltech10_SURF_L10.mat",
            "4f9334c8ced489d5054de97a5fd51a61f017f3bcd1f38c9a85c6d78cb9d7bda5",
            "caltech_SURF_L10.mat",
            "Caltech_SURF_L10.mat",
            "caltech10_SURF_L10.mat",
        ),
        _surf("A", "amazon_SURF_L10.mat", "df32548b994e18d364c99e1f317e1fae100597259f0423a41b90f4f68187bb1f"),
        _surf("W", "webcam_SURF_L10.mat", "a6a9c78b4b7181dfbb58bcfd351d4ebd737f171c31247b8884948aa156d3f700"),
        _surf("D", "dslr_SURF_L10.mat", "44d673c68e1d07b837893aa74dba3b986e4a6cc3fd66f0dd357683bdef059216"),
    ),
    (800,),
    10,
    "original",
    _OFFICE,
    _RESEARCH,
    "Gong et al.'s files, in many public repositories",
    first_class=1,
)


def _decaf(key: str, name: str, sha256: str | None, *aliases: str) -> Domain:
    mirrors = github("LeiTian-qj/CMMS", "1c7c45b858bd", f"data/Office-Caltech10/{name}") if sha256 else ()
    return _domain(key, DataFile(name, aliases, sha256, mirrors=mirrors))


DECAF6 = DataSet(
    "decaf6",
    "Office-Caltech, DeCAF6",
    "office_caltech10_decaf6",
    by_name(
        _decaf("C", "caltech_decaf.mat", None, "Caltech10_decaf.mat", "Caltech_decaf.mat", "caltech.mat"),
        _decaf("A", "amazon_decaf.mat", None, "amazon.mat"),
        _decaf(
            "W",
            "webcam_decaf.mat",
            "e42207580fb1fadd3adba2504e1d8cff9620f464fca7536f9d7093f84c1459a3",
            "webcam.mat",
        ),
        _decaf("D", "dslr_decaf.mat", "42443f5e82e98cbe6304cacdba905e24c8430ed977b3d6b7b279f088b76e108f", "dslr.mat"),
    ),
    (4096,),
    10,
    "original",
    f"{_OFFICE}; Donahue et al., DeCAF, ICML 2014",
    _RESEARCH,
    "webcam and dslr can be fetched; caltech and amazon are on the data page of the repository "
    "jindongwang/transferlearning (Office-Caltech10, DeCAF)",
    first_class=1,
)


def _vgg(key: str, name: str, *aliases: str) -> Domain:
    return _domain(key, DataFile(name, aliases))


VGG = DataSet(
    "vgg",
    "Office-Caltech, VGG-FC6",
    "office_caltech10_vgg",
    by_name(
        _vgg("C", "caltech_VGG-FC6.mat", "Caltech10_VGG-FC6.mat", "Caltech_VGG-FC6.mat"),
        _vgg("A", "amazon_VGG-FC6.mat"),
        _vgg("W", "webcam_VGG-FC6.mat"),
        _vgg("D", "dslr_VGG-FC6.mat"),
    ),
    (4096,),
    10,
    "original",
    f"{_OFFICE}; Simonyan and Zisserman, Very deep convolutional networks, ICLR 2015",
    _RESEARCH,
    "no public address is known: extract the layer fc6 of VGG-16 from the images, and save FTS (rows x 4096) and "
    "LABELS (1 to 10)",
    first_class=1,
)


def _googlenet(key: str, name: str, sha256: str) -> Domain:
    mirrors = github("LeoGautheron/OfficeCaltechDomainAdaptation", "0bcf68398284", f"features/GoogleNet1024/{name}")
    return _domain(key, DataFile(name, (f"GoogleNet1024/{name}",), sha256, mirrors=mirrors))


GOOGLENET = DataSet(
    "googlenet",
    "Office-Caltech, GoogLeNet",
    "office_caltech10_googlenet",
    by_name(
        _googlenet("A", "amazon.mat", "bae9ee6e8f7ca305120dd970f2c90471f4ef8dda4cb2ad2404c38bb26cb56ba9"),
        _googlenet("W", "webcam.mat", "57774bbdf97433b5fb5a6333e302f077444c069537138b60ef417f48ee65d296"),
        _googlenet("D", "dslr.mat", "5f7c6211581f846b7b5534429fb62bfb7e490e88aacfc8bee97eb0b0224dbd89"),
    ),
    (1024,),
    10,
    "original",
    f"{_OFFICE}; Szegedy et al., Going deeper with convolutions, CVPR 2015",
    _RESEARCH,
    "the repository LeoGautheron/OfficeCaltechDomainAdaptation",
    first_class=1,
)


def _efficientnet(key: str, stem: str, sha256: str) -> Domain:
    return _domain(key, DataFile(f"{stem}_efficientnet_lite0.npz", (), sha256))


EFFICIENTNET = DataSet(
    "efficientnet",
    "Office-Caltech, EfficientNet-lite0",
    "office_caltech10_efficientnet",
    by_name(
        _efficientnet("C", "caltech10", "16c874c6a78adcbeace10940600114a42428416be99d02eb4dd527cd4110835e"),
        _efficientnet("A", "amazon", "4504b4bb66ff28b1ca6cbf5516c28768f6867ed749e174591174dadd50064527"),
        _efficientnet("W", "webcam", "a3a7814099f1778298ca058fb9b9977b580d4bf8e48dc399199664bbb78de83d"),
        _efficientnet("D", "dslr", "912c3b9e7628e80c534aa0935f9adfbb82fda8f23736825668609739c58b3f34"),
    ),
    (1280,),
    10,
    "extracted",
    f"{_OFFICE}; Tan and Le, EfficientNet, ICML 2019",
    _RESEARCH,
    "extracted: the last pooled convolution of EfficientNet-lite0 on the images of the repository "
    "LeoGautheron/OfficeCaltechDomainAdaptation, saved as feas, labels (1 to 10) and files",
    first_class=1,
)


def _home(key: str, stem: str, rows: int, short: str) -> Domain:
    aliases = (
        f"OfficeHome-{stem}-vgg-fc7.mat",
        f"OfficeHome-{short}-vgg-fc7.mat",
        f"{stem}_fc7.mat",
        f"{stem}.mat",
        f"OfficeHome-{stem}-resnet50-noft.mat",
        f"{stem}_{stem}.csv",
        f"Office-Home_resnet50/{stem}_{stem}.csv",
        f"{stem}.npz",
        f"{stem}.h5",
    )
    return Domain(key, stem, (DataFile(f"{stem}-vgg-fc7.mat", aliases),), rows, "features")


OFFICE_HOME = DataSet(
    "office-home",
    "Office-Home, fc7",
    "office_home",
    by_name(
        _home("Ar", "Art", 2427, "Ar"),
        _home("Cl", "Clipart", 4365, "Cl"),
        _home("Pr", "Product", 4439, "Pr"),
        _home("Rw", "RealWorld", 4357, "Rw"),
    ),
    (4096, 2048),
    65,
    "original",
    "Venkateswara et al., Deep hashing network for unsupervised domain adaptation, CVPR 2017",
    "for non-commercial research",
    "extract fc7 of VGG-F from the images of hemanthdv.org/OfficeHome-Dataset; ResNet-50 features (Art_Art.csv, ...) "
    "are on the data page of the repository jindongwang/transferlearning",
    first_class=0,
)


def _visda(key: str, title: str, rows: int, *names: str) -> Domain:
    return Domain(key, title, (DataFile(names[0], names[1:]),), rows, "features")


VISDA = DataSet(
    "visda",
    "VisDA-2017, ResNet features",
    "visda",
    by_name(
        _visda(
            "train",
            "synthetic renderings",
            152_397,
            "visda_train.mat",
            "train.mat",
            "train_train.csv",
            "VisDA_resnet50/train_train.csv",
            "visda_train.npz",
            "visda_train.h5",
            "train.npz",
            "train.h5",
        ),
        _visda(
            "validation",
            "photographs",
            55_388,
            "visda_validation.mat",
            "validation.mat",
            "train_validation.csv",
            "VisDA_resnet50/train_validation.csv",
            "visda_validation.npz",
            "visda_validation.h5",
            "validation.npz",
            "validation.h5",
        ),
    ),
    (2048, 4096, 512),
    12,
    "original",
    "Peng et al., VisDA: the visual domain adaptation challenge, 2017",
    "see the terms of the challenge",
    "ResNet-50 features (train_train.csv, train_validation.csv) are on the data page of the repository "
    "jindongwang/transferlearning; or extract them from the images of the challenge",
    first_class=0,
    float32=True,
)

IMAGES = DataSet(
    "office-images",
    "Office-Caltech, images",
    "office_caltech10_images",
    by_name(
        Domain("A", "amazon", (), 958, "images", group="amazon"),
        Domain("W", "webcam", (), 295, "images", group="webcam"),
    ),
    (),
    10,
    "original",
    _OFFICE,
    _RESEARCH,
    "the repository LeoGautheron/OfficeCaltechDomainAdaptation: images/<domain>/<class>/<name>.jpg",
    first_class=1,
)
