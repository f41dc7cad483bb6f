"""Agents as processes of their own: each hears three others over a network, decides alone, and drives its vehicle."""
