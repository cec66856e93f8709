"""The checks of the notebooks' exercises, one module per notebook; importing the package registers all of them."""

from importlib import import_module
from pkgutil import iter_modules

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
