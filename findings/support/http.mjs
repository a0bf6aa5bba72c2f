// For findings about servers: an origin whose answers are written byte by byte, and a client that shows how an answer ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Calls `answer(request, socket)` with each whole request, whose body has a Content-Length. Returns its port. */
export async function startOrigin(answer) {
  const server = createServer((socket) => {
    let text = '';
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        text += data.toString('latin1');
        const end = text.indexOf('\r\n\r\n') + 4;
        if (end === 3) return;
        const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1] ?? 0);
        if (text.length < end + length) return;
        const [method, path] = text.split(' ');
        const request = { method, path, head: text.slice(0, end), body: text.slice(end) };
        text = '';
        answer(request, socket);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return server.address().port;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a server, waits until it listens, and ends it with this process. */
export async function startServer(port, command, ...args) {
  const server = spawn(command, args, { stdio: process.env.SHOW ? 'inherit' : 'ignore' });
  process.on('exit', () => server.kill('SIGTERM'));
  for (let tries = 0; tries < 400 && server.exitCode === null; tries++) {
    const socket = connect(port, '127.0.0.1');
    const listens = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
    await pause(50);
  }
  throw new Error(`${command} does not listen`);
}

/** A connection whose requests are sent one after the other. */
export function openConnection(port) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  let end;
  let changed = () => undefined;
  socket.on('data', (data) => {
    text += data;
    changed();
  });
  socket.on('end', () => {
    end ??= 'closed';
    changed();
  });
  socket.on('error', () => {
    end ??= 'reset';
    changed();
  });
  return {
    /** The answer: its status, header fields, body, and whether its length or its last chunk shows a proper end. */
    async send(request) {
      text = '';
      socket.write(request, 'latin1');
      while (end === undefined && !isWhole(text))
        await new Promise((resolve) => {
          changed = resolve;
        });
      return read(text, end);
    },
    close: () => socket.destroy(),
  };
}

const headOf = (text) => text.slice(0, text.indexOf('\r\n\r\n') + 2);
const field = (text, name) => new RegExp(`^${name}: *(.*?)\\r$`, 'im').exec(headOf(text))?.[1];

function isWhole(text) {
  if (!text.includes('\r\n\r\n')) return false;
  const body = text.slice(headOf(text).length + 2);
  const length = field(text, 'content-length');
  if (length !== undefined) return body.length >= Number(length);
  return field(text, 'transfer-encoding') === 'chunked' && body.endsWith('0\r\n\r\n');
}

function read(text, end) {
  const status = text === '' ? 'none' : text.split(' ')[1];
  const how =
    field(text, 'content-length') !== undefined
      ? 'Content-Length'
      : field(text, 'transfer-encoding') === 'chunked'
        ? 'chunks'
        : 'close of the connection';
  const whole = isWhole(text) || (how === 'close of the connection' && text !== '' && end === 'closed');
  return { status, how, whole, end, field: (name) => field(text, name), body: text.slice(headOf(text).length + 2) };
}

export const get = (path = '/') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
