"""Finds the files of a dataset and reads them, with readers that share no code with their writer."""

import glob
import os

import arrowfiles
import textfiles


def files(directory, extension):
    """The data files of a dataset, in the order of their names."""
    found = sorted(glob.glob(os.path.join(glob.escape(directory), "data", "*." + extension)))
    if not found:
        raise ValueError(f"no {extension} files in {directory}")
    return found


def read(directory, form, names, types, shape=None):
    """The rows of a dataset in the order of its files, with the columns in the order of names, and a list of what is wrong with its schema.

    shape has the settings other than the default by which types look: uuid, map, time.
    """
    paths = files(directory, form)
    if form == "jsonl":
        return textfiles.read_jsonl(paths, names, types)
    if form == "csv":
        return textfiles.read_csv(paths, names, types)
    reader = {"parquet": arrowfiles.read_parquet, "arrow": arrowfiles.read_arrow}[form]
    return reader(paths, names, types, shape or {})
