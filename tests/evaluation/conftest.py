"""What the package imports only where it is needed, imported before hypothesis looks at the clock."""

import pandas  # noqa: F401
import scipy.stats  # noqa: F401
import sklearn.cluster
import sklearn.metrics.cluster  # noqa: F401
