package cql

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/gocql/gocql"

	"manifest/scan"
)

// reasons are why a replica failed to read, by their code in protocol version
// 5 and by the name that Cassandra 4.0 and later have in the message of any
// version, and the class that each is. The first that is found counts.
var reasons = []struct {
	code  uint16
	name  string
	class scan.Class
}{
	{0x0001, "READ_TOO_MANY_TOMBSTONES", scan.Tombstones},
	{0x0005, "NODE_DOWN", scan.Unavailable},
	{0x0003, "INCOMPATIBLE_SCHEMA", scan.Other}, // for as long as a change is on its way to the replicas
	{0x0002, "TIMEOUT", scan.Timeout},
}

// cutOff is what the driver's text says of an answer that ended too early; its
// error wraps nothing that tells.
const cutOff = "unable to read frame body"

// classify says what kind of failure an error of the driver is.
func classify(err error) scan.Class {
	if failure, ok := errors.AsType[*gocql.RequestErrReadFailure](err); ok {
		return classifyReadFailure(failure)
	}
	if request, ok := errors.AsType[gocql.RequestError](err); ok {
		return classifyCode(request.Code())
	}
	switch {
	case errors.Is(err, gocql.ErrTimeoutNoResponse), errors.Is(err, context.DeadlineExceeded):
		return scan.Timeout
	case errors.Is(err, gocql.ErrNoConnections), errors.Is(err, gocql.ErrConnectionClosed), errors.Is(err, gocql.ErrTooManyTimeouts),
		errors.Is(err, gocql.ErrNoStreams), errors.Is(err, gocql.ErrSessionClosed),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		strings.Contains(err.Error(), cutOff):
		return scan.NoConnection
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return scan.NoConnection
	}
	return scan.Other
}

// classifyCode maps the codes of the native protocol (version 5, section 8).
func classifyCode(code int) scan.Class {
	switch code {
	case gocql.ErrCodeUnavailable:
		return scan.Unavailable
	case gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping:
		return scan.Overloaded
	case gocql.ErrCodeReadTimeout:
		return scan.Timeout
	case gocql.ErrCodeUnprepared:
		return scan.Unprepared
	case gocql.ErrCodeCredentials:
		return scan.Authentication
	case gocql.ErrCodeUnauthorized:
		return scan.Unauthorized
	case gocql.ErrCodeInvalid:
		return scan.SchemaChanged // the statement was valid when it was planned
	case gocql.ErrCodeProtocol, gocql.ErrCodeSyntax:
		return scan.Protocol
	default:
		return scan.Other
	}
}

func classifyReadFailure(failure *gocql.RequestErrReadFailure) scan.Class {
	for _, r := range reasons {
		for _, code := range failure.ErrorMap {
			if code == r.code {
				return r.class
			}
		}
		if strings.Contains(failure.Message(), r.name) {
			return r.class
		}
	}
	return scan.ReadFailure
}
