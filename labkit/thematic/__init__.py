"""Thematic triplets: sentences of one section should be closer than sentences of two.

triplets (anchor, positive, negative) -> batches -> network -> distances d⁺, d⁻ -> loss        `method`, `network`
held-out articles -> their sentences, clustered -> do the clusters agree with the sections?    `sections`
"""
