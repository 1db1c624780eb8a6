// Package pyenv provides the Python interpreter with the packages that tests need: other readers of our files (pyarrow, pandas, DuckDB,
// Polars, Hugging Face datasets, WebDataset), a validator of metadata (mlcroissant), and another client of the server (cassandra-driver).
//
// # Words
//
//   - Environment: a virtual environment with the packages of requirements.txt in exactly the versions written there.
//   - Base interpreter: the python3 of the PATH, which the environment is made from.
//
// # Which interpreter a test gets
//
//	-short ------------------ test skipped, said once on standard error
//	MANIFEST_PYTHON --------- that interpreter, as it is
//	CACHE/python-HASH ------- complete? -> its interpreter
//	                          else made under CACHE/python-HASH.lock: python3 -m venv, pip install, complete
//
// Spark is in an environment of its own, CACHE/spark-HASH, of spark.txt; a test gets it if MANIFEST_SPARK is set.
// cassandra-medusa has one too, CACHE/medusa-HASH, of medusa.txt, and so has CQLite, CACHE/cqlite-HASH, of cqlite.txt,
// for a benchmark alone.
//
// CACHE is $MANIFEST_CACHE, or the user's cache folder + /manifest. HASH is that of requirements.txt and the base interpreter's version, so
// that either's change makes a new environment beside the old one.
//
// # Invariants
//
//   - An environment counts from the moment its file "complete" is there, which is written last. What a killed process left is made anew.
//   - Processes that ask at the same time wait for the one that makes it.
//   - An environment that cannot be made fails the test with what python3 or pip said.
//
// # What it does not do
//
// It removes no environments that nobody uses any more, and adds nothing to those that are complete.
package pyenv
