package e2e

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"manifest/internal/casstest"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	file string // its certificate, in PEM
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	a := &authority{file: filepath.Join(dir, name+".pem")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, key := a.sign(t, template)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key = cert, key
	writePEM(t, a.file, block{"CERTIFICATE", der})
	return a
}

// sign makes a key and a certificate for it, signed by a, or by itself while a has no key.
func (a *authority) sign(t *testing.T, template *x509.Certificate) (der []byte, key crypto.Signer) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	if der, err = x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer); err != nil {
		t.Fatal(err)
	}
	return der, key
}

// issue writes a certificate and its key.
func (a *authority) issue(t *testing.T, dir, name string, ips ...net.IP) (certFile, keyFile string) {
	t.Helper()
	der, key := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: ips,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	})
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	writePEM(t, certFile, block{"CERTIFICATE", der})
	writePEM(t, keyFile, block{"PRIVATE KEY", private})
	// The server reads both from one file.
	writePEM(t, filepath.Join(dir, name+".both"), block{"PRIVATE KEY", private}, block{"CERTIFICATE", der}, block{"CERTIFICATE", a.cert.Raw})
	return certFile, keyFile
}

type block struct {
	kind string
	der  []byte
}

func writePEM(t *testing.T, path string, blocks ...block) {
	t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: b.kind, Bytes: b.der})...)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A server that demands certificates of those who come with TLS. Without TLS it lets in whoever prepares its tables.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	ours, others := newAuthority(t, dir, "ours"), newAuthority(t, dir, "others")
	const octet = 60
	ours.issue(t, dir, "node.example", net.IPv4(127, 0, 0, octet))
	cert, key := ours.issue(t, dir, "client.example")
	strangeCert, strangeKey := others.issue(t, dir, "stranger.example")
	c := casstest.Own(t, casstest.Options{BaseOctet: octet, Settings: map[string]string{
		"client_encryption_options": fmt.Sprintf(`{enabled: true, optional: true, require_client_auth: true, ssl_context_factory: `+
			`{class_name: org.apache.cassandra.security.PEMBasedSslContextFactory}, keystore: %q, truststore: %q}`,
			filepath.Join(dir, "node.example.both"), ours.file),
	}})
	s := newEmptySite(t, c, "e2e_tls", fmt.Sprintf(simpleReplication, 1))
	session, err := c.Session("")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, statement := range []string{"CREATE TABLE e2e_tls.t (k int PRIMARY KEY, v text)", "INSERT INTO e2e_tls.t (k, v) VALUES (1, 'one')"} {
		if err := session.Query(statement).WithContext(t.Context()).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	client := []string{"--tls-cert", cert, "--tls-key", key}
	export := func(out string, flags ...string) []string {
		return append([]string{"export", "--table", "e2e_tls.t", "--format", "csv", "--progress", "none", "--out", out}, flags...)
	}

	t.Run("verified both ways", func(t *testing.T) {
		out := filepath.Join(scratch(t), "out")
		if o := s.command(export(out, append(client, "--tls-ca", ours.file)...)...).run(t); o.code != exitDone {
			t.Fatal(o)
		}
		content, err := os.ReadFile(filepath.Join(out, "data", "part-00000-of-00001.csv"))
		if err != nil || string(content) != "k,v\n1,one\n" {
			t.Errorf("%q, %v", content, err)
		}
	})
	t.Run("the name in the certificate", func(t *testing.T) {
		out := filepath.Join(scratch(t), "out")
		if o := s.command(export(out, append(client, "--tls-ca", ours.file, "--tls-server-name", "node.example")...)...).run(t); o.code != exitDone {
			t.Fatal(o)
		}
	})
	for _, f := range []fault{
		{name: "a server of another authority", args: export("OUT", append(client, "--tls-ca", others.file)...), code: exitNoAccess, says: []string{"certificate"}},
		{name: "an authority that the system does not know", args: export("OUT", append(client, "--tls")...), code: exitNoAccess, says: []string{"certificate"}},
		{name: "another name", args: export("OUT", append(client, "--tls-ca", ours.file, "--tls-server-name", "evil.example")...),
			code: exitNoAccess, says: []string{"evil.example"}},
		{name: "no certificate of the client", args: export("OUT", "--tls-ca", ours.file), code: exitNoAccess, says: []string{"--tls"}},
		{name: "a client of another authority", args: export("OUT", "--tls-ca", ours.file, "--tls-cert", strangeCert, "--tls-key", strangeKey),
			code: exitNoAccess, says: []string{"--tls"}},
		{name: "a certificate without its key", args: export("OUT", "--tls-ca", ours.file, "--tls-cert", cert), code: exitUsage, says: []string{"key"}},
		{name: "a file that holds no certificate", args: export("OUT", "--tls-ca", key), code: exitUsage, says: []string{filepath.Base(key)}},
	} {
		t.Run(f.name, func(t *testing.T) { f.check(t, s.shared...) })
	}
}
