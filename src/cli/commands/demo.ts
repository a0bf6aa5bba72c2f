// `jobmirror demo`: mirrors two versions of a bundled feed into a sandbox, proves the result, and keeps it open to explore.
import { Command } from 'commander';
import { ExitStatus } from '../../runtime/exit-status.ts';
import { type StopSignal, stopSignal } from '../../runtime/stop-signal.ts';
import { commandWriter, pathFromHere } from '../adapter/command-line.ts';
import { DEMO_ACCOUNT, type DemoInstallation, openDemoInstallation } from '../demo/demo-installation.ts';
import { REJECTED_STATE_GROUP } from '../demo/fix-group.ts';
import { makeDemoFolder } from '../demo/folder.ts';
import { type DemoPage, openPage } from '../demo/page.ts';
import { type DemoEnd, runDemo } from '../demo/run-demo.ts';

/** Nobody but the person at the terminal waits for it, and cut off, it would leave its folder behind. */
const END_AFTER_MS = 60_000;

export function demoCommand(): Command {
  return new Command('demo')
    .option('--once', 'end when the result is proven, instead of waiting for Ctrl-C')
    .action(async (options: { once?: boolean }) => {
      const stopping = stopSignal(END_AFTER_MS);
      const page = openPage();
      const folder = await makeDemoFolder(process.cwd());
      try {
        introduce(page, folder.path);
        process.exitCode = await play(folder.path, page, stopping, options.once === true);
      } finally {
        await folder.remove();
        page.say(`\nThe demo has ended, and everything it created is removed.`, 0);
        stopping.release();
      }
    });
}

async function play(folder: string, page: DemoPage, stopping: StopSignal, once: boolean): Promise<ExitStatus> {
  let installation: DemoInstallation | undefined;
  try {
    installation = await openDemoInstallation(folder, stopping.signal);
    page.say(`the site    ${installation.sandbox.url}, a sandbox that speaks the XML interface of the real one`);
    const ending = await runDemo(installation, page, { signal: stopping.signal, fixes: once });
    if (!once) {
      inviteToBrowse(page, installation, ending);
      await stopping.stopped;
    }
    return ending.proven ? ExitStatus.done : ExitStatus.failed;
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    page.say('\nStopped before the end.', 0);
    return ExitStatus.failed;
  } finally {
    await installation?.close();
  }
}

function introduce(page: DemoPage, folder: string): void {
  page.say(page.paint('bold', 'jobmirror mirrors a feed of job postings into a job site.'), 0);
  page.say(
    [
      '\nThis demo brings everything it needs, and removes it when it ends:',
      `  the files   ${pathFromHere(folder)}`,
      '  the feed    the openings of a fictional employer, Corrandale Health Careers',
      '  the data    a Postgres database: what is on the site, what is to be sent, what needs review',
    ].join('\n'),
    0,
  );
}

/** The posting of the bundled feed that has no title, and a title for it. */
const MENDABLE = { key: 'CH-20679', edit: 'title=Patient Registrar, Weekends' };

function inviteToBrowse(
  page: DemoPage,
  { sandbox, password, configPath, setup, pages }: DemoInstallation,
  { review }: DemoEnd,
): void {
  const write = commandWriter(pathFromHere(configPath));
  const id = String(review.find(({ key }) => key === MENDABLE.key)?.id);
  page.heading('Look around');
  page.say(
    [
      `The site:  ${page.paint('cyan', sandbox.url)}`,
      `           log in as ${DEMO_ACCOUNT} with the password ${password}`,
      '',
      `The pages: ${page.paint('cyan', `${pages}/review`)}`,
      `           ${REJECTED_STATE_GROUP.keys.length} postings wait in one group, as their state ${REJECTED_STATE_GROUP.title}: open it, type a`,
      `           state such as ${REJECTED_STATE_GROUP.value} as the new value, and choose "Set for all ${REJECTED_STATE_GROUP.keys.length}"`,
      '',
      'The same in another terminal:',
      `  ${write(['review', 'list'])}`,
      `  ${write(['review', 'show', id])}`,
      `Give ${MENDABLE.key} its missing title, which sends it, and see what happened to it:`,
      `  ${write(['review', 'edit', id, '--set', MENDABLE.edit])}`,
      `  ${write(['why', setup.feed, MENDABLE.key])}`,
      '',
      'Ctrl-C ends the demo.',
    ].join('\n'),
  );
}
