// Package s3test starts a server that speaks S3, for tests: versitygw, a gateway
// whose objects are files of a directory. It is built once, from its source at a
// stated version, into the cache folder.
//
// Start gives each test a server of its own with an empty bucket, on the
// loopback, and sets the environment that says where it is. Proxy stands
// between a client and a server and breaks connections, as networks do.
package s3test
