# The binary and nothing else: make build first.
FROM scratch
COPY bin/manifest /manifest
USER 65534:65534
ENTRYPOINT ["/manifest"]
