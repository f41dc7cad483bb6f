"""The paper's study: its settings, which come with the package."""
