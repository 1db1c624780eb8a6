//go:build !linux

package casstest

import "syscall"

// childAttributes give a child a process group of its own. Only Linux can also tie its life to this process.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
