#!/usr/bin/env -S python3 -SE
"""A worker for tests: does what the event asks for. It speaks Lambda's Runtime API over plain sockets, because 150 of these start at once."""

import json
import os
import signal
import socket
import sys
import time

HOST, PORT = os.environ["AWS_LAMBDA_RUNTIME_API"].split(":")


def talk(method, path, body=b""):
    """Sends one request; gives status, headers and body."""
    head = f"{method} /2018-06-01/runtime/{path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((HOST, int(PORT))) as connection:
        connection.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


def meet(folder, count):
    """Leaves a mark and waits until so many are there."""
    with open(f"{folder}/{os.getpid()}-{time.monotonic_ns()}", "w"):
        pass
    while len(os.listdir(folder)) < count:
        time.sleep(0.05)


def carry_out(event):
    deed = event["do"]
    if deed == "exit":
        sys.exit(3)
    if deed == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if deed == "error":
        raise ValueError("no luck")
    if deed == "sleep":
        time.sleep(event["seconds"])
    if deed == "meet":
        meet(event["folder"], event["count"])
    return event


while True:
    status, headers, body = talk("GET", "invocation/next")
    if status != 200:
        sys.exit()
    request = headers["lambda-runtime-aws-request-id"]
    try:
        talk("POST", f"invocation/{request}/response", json.dumps(carry_out(json.loads(body))).encode())
    except ValueError as error:
        told = json.dumps({"errorType": "ValueError", "errorMessage": str(error)})
        talk("POST", f"invocation/{request}/error", told.encode())
