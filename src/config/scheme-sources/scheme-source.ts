// What a kind of source is to the configuration and to `init`, if its addresses have a scheme of their own.
import type { z } from 'zod';
import type { SingleConfig } from '../../feed/source/sources.ts';
import type { SecretSettings } from '../read-secret.ts';

/** Which files of a folder make up the feed; `undefined`: the address names one file. */
export type FileChoice = Extract<SingleConfig, { kind: 'files' }>['pick'] | undefined;

/** Makes what is to be read at an address, with the credentials that it holds. */
export type SchemeOpener = (address: string, files: FileChoice) => SingleConfig;

export interface InitContext {
  /** Begins the names of the feed's variables. */
  readonly prefix: string;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How `init` asks for the credentials of an address that can be parsed. */
interface InitProposal {
  /** Its options: flags and description. */
  readonly options: readonly (readonly [flags: string, description: string])[];
  propose(address: string, options: Readonly<Record<string, unknown>>, context: InitContext): InitAnswer;
}

export interface InitAnswer {
  /** What the person has to add, each as `--option VALUE, what it is`. Then the rest does not count. */
  readonly missing: readonly (string | false)[];
  /** The address without credentials. */
  readonly source: string;
  /** The settings of the credentials, and those that differ for reading the source at once: variables have been replaced. */
  readonly written: object;
  readonly now?: object;
  /** Variables that the settings name, with values that are not in the environment yet. */
  readonly secrets: Readonly<Record<string, string>>;
}

interface SchemeDescription<Schema> {
  /** Of its addresses, and the name of its credentials. */
  readonly scheme: string;
  /** What its credentials are, and what a source without any is told to have. */
  readonly description: string;
  readonly needs: string;
  /** Each secret is `secretSchema.optional()`: by that form it is known as one. */
  readonly credentials: Schema;
  /** The credentials are sent to the host of the address, and to no second one. */
  readonly isHost: boolean;
  /** What is wrong with an address. */
  faultOf?(address: string, files: FileChoice): string | undefined;
  readonly init: InitProposal;
}

export interface SchemeSource extends SchemeDescription<z.ZodObject> {
  /** `undefined` after a complaint. @param written what the schema made of the credentials */
  opener(written: unknown, around: SecretSettings): Promise<SchemeOpener | undefined>;
}

/** Ties what reads the credentials to their schema. */
export const schemeSource = <Schema extends z.ZodObject>(
  source: SchemeDescription<Schema> & {
    opener(written: z.output<Schema>, around: SecretSettings): Promise<SchemeOpener | undefined>;
  },
): SchemeSource => ({
  ...source,
  opener: (written, around) => source.opener(written as z.output<Schema>, around),
});
