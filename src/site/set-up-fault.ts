// Recognises refusals that are about how requests are set up, not about the job in them: sites answer these like validation errors.
import { type Message, messageOf } from '../plan/message.ts';
import type { Problem } from '../posting/posting.ts';

/** A refusal that may be about every request. */
export interface SetUpFault {
  /** The likely cause, and what to do about it; absent: none that is known. */
  readonly looksLike?: Message | undefined;
  /** It cannot be about one job: the site refuses every request of this kind. */
  readonly isCertain: boolean;
  /** Fields that the site does not take. */
  readonly fields?: readonly string[];
}

interface Sign {
  readonly pattern: RegExp;
  readonly isCertain: boolean;
  /** `undefined`: the match means something else. */
  readonly tell: (match: RegExpExecArray, facts: SignFacts) => Told | undefined;
}

interface Told extends Omit<SetUpFault, 'isCertain'> {
  readonly looksLike: Message;
}

interface SignFacts {
  readonly status: number;
  /** The answer is a page with a field for a password. */
  readonly isSignIn: boolean;
  /** Fields that were sent or are mapped. */
  readonly fields: readonly string[];
}

const said = (text: string, words: string) => ({ looksLike: messageOf(text, [{ words }]) });

/** In order; the names are those of Rails and Django, whose words other frameworks borrow. */
const SIGNS: readonly Sign[] = [
  {
    pattern: /unpermitted (?:parameter|key|attribute|field)s?|unknown attributes?|unknown (?:parameter|field)s?\b/i,
    isCertain: false,
    tell: ({ input, index, 0: match }) => {
      const fields = namesIn(input.slice(index + match.length));
      const named = fields.map((name) => `\`${name}\``).join(', ');
      return fields.length === 0
        ? undefined
        : {
            ...said(
              `the site refuses the parameter${fields.length === 1 ? '' : 's'} ${named}`,
              'Remove the field from the `fields` of the feed, or have the site permit it',
            ),
            fields,
          };
    },
  },
  {
    pattern:
      /InvalidAuthenticityToken|authenticity[ _-]token|\bcsrf\b|cross[ -]site request|InvalidCrossOriginRequest/i,
    isCertain: true,
    tell: () =>
      said(
        'the site demands a CSRF token, which only its own forms have, from clients of its interface',
        'Have it exempt requests with an authentication token from that check (in Rails: `protect_from_forgery with: :null_session`)',
      ),
  },
  {
    pattern: /param(?:eter)? is missing(?: or the value is empty)?: ?:?["'`]?(\w+)|ParameterMissing/i,
    isCertain: true,
    tell: ([, name], { fields }) =>
      name !== undefined && fields.some((field) => field.replaceAll('-', '_') === name.replaceAll('-', '_'))
        ? undefined
        : said(
            `the site does not find the record that was sent${name === undefined ? '' : `: it expects \`${name}\``}`,
            'Have it parse bodies with `Content-Type: application/xml` (in Rails since 4.0: `actionpack-xml_parser`), and check that it calls a job what jobmirror does',
          ),
  },
  {
    pattern: /UnknownFormat|MissingTemplate|UnknownHttpMethod|\bnot acceptable\b|unsupported (?:media type|format)/i,
    isCertain: true,
    tell: (_, { status }) =>
      said(
        `the site has no XML form of this action${status === 406 ? ' (406)' : ''}`,
        'Check base_url, and whether the site offers creating and updating jobs as XML',
      ),
  },
  {
    pattern: /^/,
    isCertain: true,
    tell: (_, { isSignIn }) =>
      isSignIn
        ? said(
            'the site answers with a page to sign in instead of XML',
            'Check base_url and the token, and whether the site accepts tokens for this action',
          )
        : undefined,
  },
  {
    pattern: /^(?:\d{3} )?(?:bad request|unprocessable (?:entity|content)|forbidden|not acceptable|conflict)\.?$/i,
    isCertain: false,
    tell: ({ input }, { status }) =>
      said(
        `the site answers ${status} (${input.trim()}) without a reason`,
        'Its log has the reason: in Rails 422 may be a missing CSRF token, and 400 a body that it did not parse',
      ),
  },
];

/** Names after a colon, as `:number, :salary`, `"number"` or `number`; those of the class that knows them not count. */
const namesIn = (text: string): string[] => {
  const list = text.replace(/^[\s:]+/, '').split(/\b(?:for|on|in)\s|[).;]|\s\(/)[0] ?? '';
  return list
    .split(/[,\s]+|\band\b/)
    .map((name) => name.replace(/^[:'"`«„“]+|['"`»”“]+$/g, ''))
    .filter((name) => /^[a-z][\w-]*$/i.test(name))
    .slice(0, 20);
};

/** The fault of the set-up that these problems look like; `undefined`: none that is known. */
export function readSetUpFault(
  problems: readonly Problem[],
  facts: SignFacts,
): (SetUpFault & { readonly looksLike: Message }) | undefined {
  for (const { message } of problems)
    for (const { pattern, isCertain, tell } of SIGNS) {
      const match = pattern.exec(message);
      const found = match === null ? undefined : tell(match, facts);
      if (found !== undefined) return { ...found, isCertain };
    }
  return undefined;
}

/** What two refusals have in common if they are not about their jobs: numbers and quoted texts may differ. */
export const formOfRefusal = (message: string): string =>
  message
    .toLowerCase()
    .replace(/"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”|„[^“]*“|«[^»]*»/g, '…')
    .replace(/\d+/g, '#')
    .slice(0, 1_000);
