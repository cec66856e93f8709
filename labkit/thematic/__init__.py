"""Thematic triplets: sentences of one section should be closer to each other than to those of another.

triplets (anchor, positive, negative) -> batches -> network -> distances d⁺, d⁻ -> loss        `method`, `network`
held-out articles -> clusters of their sentences -> agreement with the sections                   `sections`
"""
