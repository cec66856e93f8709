"""What the page "Clusters" says: its explanation, its formulas, and the code that it shows."""

ABOUT = """\
Each point is a sentence; its colour and mark are its class. A method turns every sentence into a vector of many
numbers, the **embedding space**; the **picture** lays these vectors out in two or three dimensions, and no picture
keeps all of them. So each figure is given twice: measured in the embedding space, and in the picture. Trust the first.

* **inter / intra**: how far apart the centres of the classes are, over how wide the classes are. Larger: clearer.
* **silhouette**: from -1 to 1, whether a sentence is nearer to its own class (a) than to the next (b), on average.
* **Hit@1**: the share of sentences whose nearest neighbour is of their class.

**PCA** is linear: far apart means far apart. **t-SNE**, **UMAP** and **LLE** keep neighbours together; how large a
cluster looks, and how far from the next, means little there. Vectors have length one: near means a large cosine.
"""
FORMULAS = (
    r"\frac{\text{inter}}{\text{intra}} = \frac{\frac1C \sum_c \min_{c' \neq c} \|\mu_c - \mu_{c'}\|}"
    r"{\frac1n \sum_i \|x_i - \mu_{c(i)}\|}",
    r"\text{silhouette} = \frac1n \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}",
    r"\text{Hit@1} = \frac1n \left|\{i : c(\arg\min_{j \neq i} \|x_i - x_j\|) = c(i)\}\right|",
)
THINNED = "{shown:,} of {all:,} sentences, {some:,} of {classes:,} classes: more are chosen under “… at most”. {how}"
WHOLE = "Each class is whole; which ones are shown is drawn by a seed."
PARTS = "Of each class the same share, drawn by a seed."
LISTING = "**{name} sentences**: {count:,} of {all:,}{more}"
NOTHING_READ = "Click a point, search for words, or type a sentence: it is read here, whole, with its neighbours."
PLACED = "Where it lies: {how}."
UNKNOWN_ALL = (
    "{space} has never met any of these words: {words}. Its vector says nothing of the sentence, so that it has no "
    "place in the picture and no neighbours."
)
UNKNOWN_SOME = "Words that {space} has never met, and that say nothing here: {words}."
IN_SPACE = "Points in space cannot be clicked. Search above: what is found gets a ring, and can be read from the list."
NO_EPOCHS = (
    "These vectors were not trained in epochs: choose a run in the sidebar. One that keeps its probe's vectors at "
    "every epoch is made by this line:"
)
EPOCHS = (
    "{count} sentences of the run's probe, the same at every epoch, in axes that stay. {how} The slider's arrow keys "
    "go from epoch to epoch; Play (Tab goes to it, Enter presses it) travels from the first to the one on the slider."
)
HOW_EPOCHS = {
    "pca": "One PCA of all epochs together: ways are straight where the vectors' are.",
    "tsne": "t-SNE begins each epoch at the picture before; its unit is the first picture's.",
    "umap": "UMAP begins each epoch at the picture before; its unit is the first picture's.",
    "lle": "Each epoch's LLE is turned onto the one before; its unit is the first picture's.",
}
CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.corpora.relations import class_order, points
from labkit.lab.shipped import DEMONSTRATIONS, pictured
from labkit.figures import clusters
from labkit.methods import load as load_run
from labkit.projection import project

corpus = load({corpus!r})
{method}
shown = {shown}
vectors = method.encode(shown.texts, normalize_embeddings=True)
picture = project(vectors, {how!r}, {dimensions})
clusters(picture, shown, by={by!r}, most={most}, order=class_order(corpus), named=True).show()
"""
EPOCHS_CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.corpora.relations import class_order
from labkit.lab.shipped import DEMONSTRATIONS
from labkit.figures import clusters_over_epochs
from labkit.projection.epochs import in_classes_of, journey
from labkit.methods import load as load_run

corpus = load({corpus!r})
{method}
found = in_classes_of(journey(method.snapshots, {how!r}, common={common}), corpus)
clusters_over_epochs(found, at={at}, by={by!r}, most={most}, order=class_order(corpus), named=True).show()
"""
