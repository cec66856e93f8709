"""FILM (Liang et al. 2018): fast, low-rank, readable metric learning on sparse rows."""
