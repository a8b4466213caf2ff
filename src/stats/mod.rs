//! Pure statistics: nothing here knows of memory, processes or files.
