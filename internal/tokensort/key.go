package tokensort

import (
	"bytes"
	"fmt"

	"manifest/tokenrange"
)

// tokenBytes is the length of a token in a key.
const tokenBytes = 16

// AppendKey appends a key whose order as bytes is that of the ring: by token, and within a token by the serialized partition key. No key
// is the beginning of another, so that more may be appended for an order within a partition.
func AppendKey(dst []byte, token tokenrange.Token, partitionKey []byte) []byte {
	return AppendText(token.AppendBytes(dst), partitionKey)
}

// AppendText appends bytes so that texts compare as they do alone, whatever is appended behind them: zeros are escaped, and two zeros
// end the text.
func AppendText(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, 0)
		if i < 0 {
			break
		}
		dst = append(append(dst, text[:i]...), 0, 1)
		text = text[i+1:]
	}
	return append(append(dst, text...), 0, 0)
}

// TakeText appends to dst the text that AppendText put at the beginning of key, and returns what is behind it.
func TakeText(dst, key []byte) (text, rest []byte, err error) {
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 || i+1 == len(key) {
			return nil, nil, fmt.Errorf("%w: a key without its end", ErrCorrupt)
		}
		dst = append(dst, key[:i]...)
		end := key[i+1] == 0
		key = key[i+2:]
		if end {
			return dst, key, nil
		}
		dst = append(dst, 0)
	}
}

// KeyLen is the length of the key that AppendKey put at the beginning of key.
func KeyLen(key []byte) (int, error) {
	for at := tokenBytes; at+1 < len(key); {
		i := bytes.IndexByte(key[at:], 0)
		if i < 0 || at+i+1 >= len(key) {
			break
		}
		at += i + 2
		if key[at-1] == 0 {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%w: a key without its end", ErrCorrupt)
}

// PartitionKey appends to dst the partition key of a key that AppendKey made.
func PartitionKey(dst, key []byte) ([]byte, error) {
	if len(key) < tokenBytes {
		return nil, fmt.Errorf("%w: a key without a token", ErrCorrupt)
	}
	text, _, err := TakeText(dst, key[tokenBytes:])
	return text, err
}

// TokenOf is the token of a key that AppendKey made.
func TokenOf(key []byte) (tokenrange.Token, error) {
	if len(key) < tokenBytes {
		return tokenrange.Token{}, fmt.Errorf("%w: a key without a token", ErrCorrupt)
	}
	return tokenrange.TokenOfBytes([tokenBytes]byte(key)), nil
}
