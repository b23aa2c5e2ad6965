"""Read benchmark questions as cases: one reader per layout, and the choice of the reader."""
