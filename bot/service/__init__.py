"""The running service: root tasks, supervision, the control socket, status, doctor, logs."""
