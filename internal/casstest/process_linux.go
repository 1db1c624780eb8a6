package casstest

import "syscall"

// childAttributes give a child a process group of its own, so that Ctrl-C at the terminal reaches only this process, and have the kernel
// kill it when the thread that started it ends.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
