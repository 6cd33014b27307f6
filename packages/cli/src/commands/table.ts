import type { Command } from '../command.ts'

/** One line of the command table: what help lists, and where the rest is. */
export interface TableEntry {
  summary: string
  load(): Promise<{ command: Command }>
}

/** Every command by its words. Modules are loaded when their command is called, so that the program starts at once. */
export const commandTable: Readonly<Record<string, TableEntry>> = {
  login: { summary: 'check an API key and keep it', load: () => import('./login.ts') },
  logout: { summary: 'forget a kept API key', load: () => import('./logout.ts') },
  whoami: { summary: 'show server, key, project and version', load: () => import('./whoami.ts') },
  init: { summary: 'connect a folder with a project', load: () => import('./init.ts') },
  status: { summary: 'show what differs between files and server', load: () => import('./status.ts') },
  diff: { summary: 'show differences line by line', load: () => import('./diff.ts') },
  push: { summary: 'send changed files to a draft', load: () => import('./push.ts') },
  pull: { summary: 'write changes of the server into files', load: () => import('./pull.ts') },
  publish: { summary: 'make a draft the live version', load: () => import('./publish.ts') },
  run: { summary: 'run a prompt and print its answer as it comes', load: () => import('./run.ts') },
  'versions list': { summary: 'list drafts and published versions', load: () => import('./versions/list.ts') },
  'versions show': {
    summary: 'show a version and what it changes',
    load: () => import('./versions/show.ts'),
  },
  'versions create': { summary: 'open a draft', load: () => import('./versions/create.ts') },
  'versions use': {
    summary: 'compare the folder with another version',
    load: () => import('./versions/use.ts'),
  },
  serve: { summary: 'start a server on this machine', load: () => import('./serve.ts') },
}

/** Summaries of the words that only group commands. */
export const groupSummaries: Readonly<Record<string, string>> = { versions: 'drafts and published versions' }
