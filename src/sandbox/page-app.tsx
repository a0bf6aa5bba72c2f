// The pages of the site, for browsers. They contain no scripts.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { packageRoot } from '../config/package-root.ts';
import { addAccountRoutes } from './account.tsx';
import { addBoardRoutes } from './board-routes.tsx';
import { addJobRoutes } from './job-routes.tsx';
import type { JobSite, SiteEnv } from './job-site.ts';
import { identify } from './job-site.ts';
import { showMessage } from './visit.ts';

export async function createPageApp(site: JobSite): Promise<Hono<SiteEnv>> {
  const style = await readFile(join(packageRoot, 'src', 'sandbox', 'style.css'), 'utf8');
  const app = new Hono<SiteEnv>();

  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ['data:'],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
      strictTransportSecurity: false,
    }),
  );
  app.use(csrf());
  app.use((c, next) => bodyLimit({ maxSize: site.settings().maxBodyBytes })(c, next));
  app.get('/style.css', (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));

  app.use(async (c, next) => {
    const identity = await identify(c, site, true);
    if (identity.kind === 'account') c.set('account', identity.account);
    if (identity.kind !== 'wrong') return next();
    c.header('www-authenticate', 'Basic realm="Jobs", charset="UTF-8"');
    const where = (
      <>
        Your current token is under <a href="/account">My Account</a>.
      </>
    );
    return showMessage(c, 401, 'This token is not valid', where);
  });

  addBoardRoutes(app, site);
  addJobRoutes(app, site);
  addAccountRoutes(app, site);

  app.notFound((c) => showMessage(c, 404, 'There is no such page', 'The address may be mistyped.'));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    if (!site.closing.aborted) site.log('page failed', { error: error.stack ?? error.message });
    return showMessage(c, 500, 'Something went wrong', 'The sandbox could not answer. Its log says why.');
  });
  return app;
}
