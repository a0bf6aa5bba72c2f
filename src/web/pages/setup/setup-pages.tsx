// The pages that set up a feed or change one: its source, what its records become, its settings, and saving. Each step is a form that
// carries the draft, the text of the feed's settings.
import type { Hono } from 'hono';
import { editDraft, settingsOfDraft } from '../../../config/feed-draft.ts';
import { UPLOADED_FILE } from '../../../feed/source/sources.ts';
import { saveFeedText, showFeedText } from '../../../operations/configuration.ts';
import {
  keepUpload,
  planFeedText,
  type RecognisedFeed,
  recogniseSource,
  tryFeedText,
} from '../../../operations/feed-setup.ts';
import { type OperationContext, OperationRefused } from '../../../operations/operation.ts';
import { tell } from '../../../plan/message.ts';
import { MOST_SAMPLE_BYTES } from '../../../runtime/feed-trial.ts';
import { ProblemError } from '../../problem.ts';
import type { WebEnv } from '../../web-env.ts';
import { type PresentText, presentTextIn } from '../configuration.tsx';
import { pageAddress } from '../parts/addresses.ts';
import { actOnForm, askedBy, type PageContext, type PageVisit, readInput, showPage } from '../parts/page.tsx';
import type { Form } from '../parts/read-form.ts';
import { MappingPage } from './mapping.tsx';
import {
  draftWithRows,
  type GivenSource,
  givenCredentials,
  givenSource,
  namesUpload,
  readMappingEdit,
  readSettingsEdit,
  type SetupDraft,
} from './read-draft.ts';
import { CommitPage, SavedPage, SettingsPage } from './settings.tsx';
import { SourcePage } from './source.tsx';

/** Look-up tables that are uploaded; feeds have bounds of their own. */
const MOST_TABLES_BYTES = 4 * 1024 * 1024;
const SHOWN_POSTINGS = 4;

export function setupPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const sites = () => [...app.config.sites.keys()];
  const said = (error: unknown): string => {
    if (error instanceof OperationRefused) return tell(error.reason, app.writeAction);
    throw error;
  };

  /** Tries the draft, and shows what its records become. */
  async function mappingPage({ actor }: PageVisit, draft: SetupDraft, recognised?: RecognisedFeed, fault?: string) {
    const asked = askedBy(context, actor);
    const tried = await tryAgain(draft, asked);
    return (
      <MappingPage
        draft={tried.draft}
        tried={tried.tried}
        recognised={recognised}
        fault={fault ?? tried.fault}
        stateField={stateFieldOf(draft.text)}
      />
    );
  }

  /** Without its sample once that is gone. */
  async function tryAgain(draft: SetupDraft, asked: OperationContext) {
    const { feed, text, sample } = draft;
    const input = { feed, text, postings: SHOWN_POSTINGS };
    try {
      const tried = await tryFeedText.run({ ...input, ...(sample === '' ? {} : { sample }) }, asked);
      return { draft, tried, fault: undefined };
    } catch (error) {
      if (!(error instanceof OperationRefused) || error.kind !== 'unknown' || sample === '') throw error;
      const tried = await tryFeedText.run(input, asked);
      return { draft: { ...draft, sample: '', isUpload: false }, tried, fault: said(error) };
    }
  }

  function stateFieldOf(text: string): string {
    const { site } = settingsOfDraft(text);
    return [...app.config.sites.values()].find(({ name }) => name === site)?.stateField.name ?? 'location-state';
  }

  /** What was read of the whole source decides, not a sample of it. An uploaded file is all that there is. */
  async function settingsPage(
    { actor }: PageVisit,
    draft: SetupDraft,
    fault?: string,
    present?: PresentText,
    mayInsist = false,
  ) {
    const asked = askedBy(context, actor);
    const read = draft.isUpload ? draft : { ...draft, sample: '' };
    const { tried } = await tryAgain(read, asked);
    const plan =
      draft.isNew || !tried.valid ? undefined : await planFeedText.run({ feed: draft.feed, text: draft.text }, asked);
    const shown = { draft, tried, plan, fault, present, sites: sites(), mayInsist };
    return <SettingsPage {...shown} />;
  }

  pages.get(
    pageAddress.newFeed(),
    showPage(async () => <SourcePage sites={sites()} given={{}} />, 'configure'),
  );
  pages.post(
    pageAddress.newFeed(),
    actOnForm(
      'configure',
      async (asked) => {
        const { form, actor } = asked;
        const given = givenSource(form);
        try {
          const file = form.file('file');
          const upload = file === undefined ? undefined : await keepUpload(file, actor);
          const sample = upload?.id ?? given.sample;
          const credentials = givenCredentials(form);
          if (typeof credentials === 'string') {
            return <SourcePage sites={sites()} given={given} form={form} fault={credentials} />;
          }
          const input = {
            site: sites()[0] ?? '',
            ...(sample !== undefined && given.source === undefined ? { source: UPLOADED_FILE } : {}),
            ...given,
            ...(sample === undefined ? {} : { sample }),
            ...(credentials === undefined ? {} : { credentials }),
          };
          const checked = recogniseSource.input.safeParse(input);
          if (!checked.success) {
            const fault = checked.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
            return <SourcePage sites={sites()} given={given} form={form} fault={fault} />;
          }
          const recognised = await recogniseSource.run(checked.data, askedBy(context, actor));
          return await mappingPage(asked, draftOf(recognised, given), recognised);
        } catch (error) {
          return <SourcePage sites={sites()} given={given} form={form} fault={said(error)} />;
        }
      },
      MOST_SAMPLE_BYTES,
    ),
  );
  pages.get(
    pageAddress.changeFeed(),
    showPage(async (asked) => {
      const { feed } = readInput(showFeedText, asked.query);
      const shown = await showFeedText.run({ feed }, askedBy(context, asked.actor));
      const draft = {
        feed,
        text: shown.text,
        seen: shown.seen ?? '',
        sample: '',
        source: '',
        isUpload: false,
        isNew: false,
      };
      return mappingPage(asked, draft, undefined, shown.read_only ?? undefined);
    }, 'configure'),
  );
  pages.post(
    pageAddress.setupMapping(),
    actOnForm(
      'configure',
      async (asked) => {
        const { form } = asked;
        const draft = readDraft(form);
        if (form.one('go') === 'text') return mappingPage(asked, { ...draft, text: form.one('edited') ?? draft.text });
        const text = draftWithRows(form, draft.text);
        const edit = await readMappingEdit(form, text);
        if (typeof edit === 'string') return mappingPage(asked, draft, undefined, edit);
        const edited = { ...draft, text: editDraft(text, edit) };
        return form.one('go') === 'continue' ? settingsPage(asked, edited) : mappingPage(asked, edited);
      },
      MOST_TABLES_BYTES,
    ),
  );
  pages.post(
    pageAddress.setupSettings(),
    actOnForm('configure', async (asked) => {
      const { form, actor } = asked;
      const draft = readDraft(form);
      const edit = readSettingsEdit(form, draft.text);
      if (typeof edit === 'string') return settingsPage(asked, draft, edit);
      const edited = { ...draft, text: editDraft(draft.text, edit) };
      const go = form.one('go');
      if (go === 'back') return mappingPage(asked, edited);
      if (go !== 'save') return settingsPage(asked, edited);
      try {
        const { feed, text, seen, sample } = edited;
        // A file that was only tried is not kept.
        const isKept = edited.isUpload && namesUpload(text);
        const input = {
          feed,
          text,
          ...(seen === '' ? {} : { seen }),
          ...(isKept ? { sample } : {}),
          ...(edited.isUpload && sample !== '' ? { tried_on: sample } : {}),
          anyway: form.one('anyway') === 'true',
        };
        const saved = await saveFeedText.run(input, askedBy(context, actor));
        if (saved.result === 'to_commit') return <CommitPage draft={edited} saved={saved} />;
        return <SavedPage draft={edited} saved={saved} />;
      } catch (error) {
        const present = error instanceof OperationRefused ? presentTextIn(error) : undefined;
        const mayInsist = error instanceof OperationRefused && error.now.may_insist === true;
        if (present === undefined) return settingsPage(asked, edited, said(error), undefined, mayInsist);
        const again = { ...edited, seen: present.seen, isNew: present.text === undefined };
        return settingsPage(asked, again, said(error), present);
      }
    }),
  );
}

const draftOf = (recognised: RecognisedFeed, given: GivenSource): SetupDraft => ({
  feed: recognised.feed,
  text: recognised.text,
  seen: '',
  sample: recognised.sample?.id ?? '',
  source: given.source ?? '',
  isUpload: recognised.sample?.upload === true,
  isNew: true,
});

/** @throws {ProblemError} if the form is not one of these pages */
function readDraft(form: Form): SetupDraft {
  const [feed, text] = [form.one('feed'), form.one('text')];
  if (feed === undefined || text === undefined) {
    throw new ProblemError({ status: 400, detail: 'the form has no draft: begin again' });
  }
  return {
    feed,
    text: text.replaceAll('\r\n', '\n'),
    seen: form.one('seen') ?? '',
    sample: form.one('sample') ?? '',
    source: form.one('source') ?? '',
    isUpload: form.one('upload') === 'true',
    isNew: form.one('new') === 'true',
  };
}
