// Package s3client connects to object stores that speak the protocol of Amazon S3:
// where to, and as whom, is asked once, the same for what is read from there and
// what is written.
//
// Credentials are those that all programs of AWS find: AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; then the shared credentials file
// (AWS_SHARED_CREDENTIALS_FILE, AWS_PROFILE); then the role of the machine, task
// or service account. AWS_REGION or AWS_DEFAULT_REGION; without, the server is
// asked. AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for other servers than Amazon's,
// AWS_CA_BUNDLE for those with a certificate of an authority of one's own.
//
// Certificates are always verified. Keys of access are in no error and in no log.
package s3client
