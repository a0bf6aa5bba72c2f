#!/usr/bin/env bash
# RQ runs the second of two jobs with one job_id twice and the first one never.
#
# Version: RQ 1.13.0 (Debian 12: python3-rq 1.13.0-1), Redis 7.0.15.
#
# Expected: A job_id is unique: a second job with it is refused, ignored, or takes the place of the first one while that waits.
#
# Behaviour: enqueue writes what the job is under its ID, over what was there, and adds the ID to the list once more. A worker takes the ID twice and
# finds the second job each time.
#
# Why it matters: The ID is set to the key of the posting so that nothing is sent twice. Of a create and an update that wait, the update is sent twice and
# the posting is never made; of a create that is added again to be safe, two are sent, and a site without idempotency keys has the job twice.
#
# Seen:
#   create Nurse, then update Head nurse: sent update Head nurse, update Head nurse
#   create Cook, added again: sent create Cook, create Cook

source "$(dirname "$0")/support/prepare.sh"
debian python3-rq=1.13.0-1 python3-redis=4.3.4-3 redis-server=5:7.0.15-1~deb12u7 redis-tools=5:7.0.15-1~deb12u7
redis-server --port 0 --unixsocket "$work/socket" --save '' --dir "$work" >log &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
until [ -S socket ]; do sleep 0.1; done
cat >requests_to_site.py <<'PROGRAM'
sent = []
def send(action, title): sent.append(f'{action} {title}')
PROGRAM
cat >program.py <<'PROGRAM'
import redis, requests_to_site, rq
server = redis.Redis(unix_socket_path='socket')
queue = rq.Queue('site', connection=server)
def run(name, *requests):
    requests_to_site.sent.clear()
    for request in requests: queue.enqueue(requests_to_site.send, *request, job_id=name.split()[1])
    rq.SimpleWorker([queue], connection=server).work(burst=True, logging_level='ERROR')
    print(f'{name}: sent', ', '.join(requests_to_site.sent))
run('create Nurse, then update Head nurse', ('create', 'Nurse'), ('update', 'Head nurse'))
run('create Cook, added again', ('create', 'Cook'), ('create', 'Cook'))
PROGRAM
PYTHONPATH="$PYTHONPATH:$work" python3.11 -W ignore program.py 2>>log | expect_seen
