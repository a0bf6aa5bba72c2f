// Takes the webhooks of others, which say that a feed or a posting has changed. Their signature is all that lets them in.
import { Hono } from 'hono';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { z } from 'zod';
import type { WebhookSender } from '../config/build/web-config.ts';
import type { Control } from '../operations/control.ts';
import { namedFeed, OperationRefused } from '../operations/operation.ts';
import { keyText, nameText } from '../operations/scalars.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import { auditAction } from '../store/access/audit.ts';
import { limiter } from './access/limits.ts';
import { once } from './api/read-request.ts';
import { badRequest, notFound, ProblemError, receiveBody } from './problem.ts';
import type { WebEnv } from './web-env.ts';

/** Of `data`, only what names the feed and the posting counts; senders may add to it. */
const messageSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('feed.changed'), data: z.looseObject({ feed: nameText }) }),
  z.looseObject({ type: z.literal('posting.changed'), data: z.looseObject({ feed: nameText, key: keyText }) }),
]);

const MOST_BYTES = 64 * 1024;

export function webhookRoutes(app: App, control: Control): Hono<WebEnv> {
  const { webhooks, requestsPerMinute } = app.config.web;
  const limit = limiter(requestsPerMinute, 60_000);
  const routes = new Hono<WebEnv>();
  routes.post('/webhooks/:sender', async (c) => {
    const waitSeconds = limit.take(c.get('client').address);
    if (waitSeconds > 0) {
      const headers = { 'Retry-After': String(waitSeconds) };
      throw new ProblemError({ status: 429, detail: 'too many webhooks', headers });
    }
    const body = await receiveBody(c.req, MOST_BYTES);
    const name = c.req.param('sender');
    const sender = webhooks.get(name);
    const { 'webhook-id': id = '' } = c.req.header();
    if (sender === undefined || !isSigned(sender, body, c.req.header())) throw new ProblemError(UNSIGNED);
    const who = `webhook ${name}`;
    // A message that is sent again, by its sender or by an eavesdropper, does nothing again, unless a process that died had begun it.
    const message = { who, key: id, target: 'webhook', body, mayRepeat: true };
    return once(app.db, message, () => take(app, control, { who, sender, body }));
  });
  return routes;
}

/** Also for unknown senders, so that their names can't be found out. */
const UNSIGNED = {
  status: 401,
  detail: 'no webhook of web.webhooks has signed this as Standard Webhooks asks, within the last five minutes',
} as const;

function isSigned({ secret }: WebhookSender, body: Buffer, headers: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret.reveal()).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

async function take(
  app: App,
  control: Control,
  { who, sender, body }: { readonly who: string; readonly sender: WebhookSender; readonly body: Buffer },
): Promise<Response> {
  const { type, data } = readMessage(body);
  // Before the feed is looked up, so that a sender does not learn which others there are.
  if (sender.feeds?.has(data.feed) === false) {
    throw new ProblemError({ status: 403, detail: `${who} may not speak of feed ${data.feed}` });
  }
  const feed = await knownFeed(app, data.feed);
  // A feed is read as a whole, so a change of one posting needs a pull as well.
  const start = await control.pullSoon(feed);
  if (start.kind === 'unusable') throw new ProblemError({ status: 503, detail: start.message });
  const pull = start.kind === 'started' ? start.pull : null;
  await auditAction(app.db, {
    actor: who,
    action: 'pull',
    feed,
    detail: { type, pull, key: 'key' in data ? data.key : null },
  });
  return accepted(feed, pull);
}

/** Says nothing of the other feeds, unlike an operation. */
const knownFeed = (app: App, name: string): Promise<FeedName> =>
  namedFeed(app, name).catch((error: unknown) => {
    throw error instanceof OperationRefused ? notFound(`there is no feed ${name}`) : error;
  });

function readMessage(body: Buffer): z.output<typeof messageSchema> {
  let message: unknown;
  try {
    message = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw badRequest([{ where: 'body', message: 'is not JSON in UTF-8' }]);
  }
  const result = messageSchema.safeParse(message);
  if (result.success) return result.data;
  throw badRequest(
    result.error.issues.map((issue) => ({
      where: ['body', ...issue.path.map(String)].join('.'),
      message: issue.message,
    })),
  );
}

const accepted = (feed: FeedName, pull: number | null): Response =>
  new Response(`${JSON.stringify({ feed, pull })}\n`, { status: 202, headers: { 'Content-Type': 'application/json' } });
