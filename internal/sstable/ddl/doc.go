// Package ddl reads the schema of tables from CQL: from the schema.cql of a
// snapshot, from what DESCRIBE prints, or from a file that a user wrote.
//
// Statements take effect in turn, as they did on the server:
//
//	CREATE TYPE ks.place (name text, at tuple<double, double>);
//	CREATE TABLE ks.images (id timeuuid PRIMARY KEY, taken_at place, old int)
//	    WITH ID = 5a1c395e-b41f-11e5-9f22-ba0be0483c18;
//	ALTER TABLE ks.images DROP old USING TIMESTAMP 1700000000000000;
//	ALTER TABLE ks.images ADD old text;
//
// What a table's rows do not depend on is passed over: options, indexes,
// keyspaces, comments. What they depend on and is not read here is an error:
// COMPACT STORAGE, whose rows have another layout, and views whose table is not
// in the same text.
package ddl
