import type { TableEntry } from '../command.ts'

/** All commands. Modules load when their command is called, which keeps the start fast. */
export const commandTable: Readonly<Record<string, TableEntry>> = {
  login: { summary: 'check an API key and save it', load: () => import('./login.ts') },
  logout: { summary: 'remove a saved API key', load: () => import('./logout.ts') },
  whoami: { summary: 'show server, key, project and version', load: () => import('./whoami.ts') },
  init: { summary: 'connect a folder to a project', load: () => import('./init.ts') },
  status: { summary: 'show what differs between files and server', load: () => import('./status.ts') },
  diff: { summary: 'show differences line by line', load: () => import('./diff.ts') },
  push: { summary: 'send changed files to a draft', load: () => import('./push.ts') },
  pull: { summary: "write the server's changes into files", load: () => import('./pull.ts') },
  publish: { summary: 'make a draft the live version', load: () => import('./publish.ts') },
  rollback: { summary: 'restore an earlier version', load: () => import('./rollback.ts') },
  revert: { summary: 'drop changes of a draft', load: () => import('./revert.ts') },
  run: { summary: 'run a prompt and stream its answer', load: () => import('./run.ts') },
  chat: { summary: 'continue a conversation', load: () => import('./chat.ts') },
  attach: { summary: 'follow a run, or replay it', load: () => import('./attach.ts') },
  stop: { summary: 'stop a run', load: () => import('./stop.ts') },
  'prompts list': { summary: 'list the prompts of a version', load: () => import('./prompts/list.ts') },
  'versions list': { summary: 'list drafts and published versions', load: () => import('./versions/list.ts') },
  'versions show': {
    summary: 'show a version and what it changes',
    load: () => import('./versions/show.ts'),
  },
  'versions create': { summary: 'open a draft', load: () => import('./versions/create.ts') },
  'versions use': {
    summary: 'make the folder follow another version',
    load: () => import('./versions/use.ts'),
  },
  'conversations list': { summary: 'list conversations', load: () => import('./conversations/list.ts') },
  'conversations get': { summary: 'print a conversation', load: () => import('./conversations/get.ts') },
  'conversations delete': { summary: 'delete a conversation', load: () => import('./conversations/delete.ts') },
  'conversations erase': {
    summary: 'delete all conversations of a custom identifier',
    load: () => import('./conversations/erase.ts'),
  },
  'logs create': { summary: 'record an external run', load: () => import('./logs/create.ts') },
  annotate: { summary: 'score a conversation', load: () => import('./annotate.ts') },
  'evaluations create': {
    summary: 'create a way to score conversations',
    load: () => import('./evaluations/create.ts'),
  },
  'evaluations list': { summary: 'list evaluations', load: () => import('./evaluations/list.ts') },
  'keys create': { summary: 'create an API key', load: () => import('./keys/create.ts') },
  'keys list': { summary: 'list API keys', load: () => import('./keys/list.ts') },
  'keys rotate': { summary: 'replace an API key', load: () => import('./keys/rotate.ts') },
  'keys revoke': { summary: 'revoke an API key', load: () => import('./keys/revoke.ts') },
  'providers add': { summary: 'store a provider key', load: () => import('./providers/add.ts') },
  'providers list': { summary: 'list provider keys', load: () => import('./providers/list.ts') },
  'providers update': { summary: 'change a stored provider key', load: () => import('./providers/update.ts') },
  'providers remove': { summary: 'delete a stored provider key', load: () => import('./providers/remove.ts') },
  'projects list': { summary: 'list projects', load: () => import('./projects/list.ts') },
  'projects create': { summary: 'create a project', load: () => import('./projects/create.ts') },
  'projects update': { summary: 'change a project', load: () => import('./projects/update.ts') },
  'projects delete': { summary: 'delete a project', load: () => import('./projects/delete.ts') },
  check: { summary: 'compile, compare and check types, for CI', load: () => import('./check.ts') },
  'types generate': { summary: 'write TypeScript types of the prompts', load: () => import('./types/generate.ts') },
  import: { summary: 'convert prompts of other tools into files', load: () => import('./import/import.ts') },
  export: { summary: 'write all prompts to a folder or a file', load: () => import('./export.ts') },
  'config list': { summary: 'show settings and profiles', load: () => import('./config/list.ts') },
  doctor: { summary: 'diagnose problems', load: () => import('./doctor/doctor.ts') },
  completion: {
    summary: 'print a shell completion script',
    load: async () => ({
      command: (await import('./completion/completion.ts')).commandOf(commandTable, groupSummaries),
    }),
  },
  serve: { summary: 'start a server on this machine', load: () => import('./serve/serve.ts') },
}

/** Summaries of words that only group commands. */
export const groupSummaries: Readonly<Record<string, string>> = {
  prompts: 'prompts of a version',
  versions: 'drafts and published versions',
  conversations: 'stored conversations',
  logs: 'external runs',
  evaluations: 'ways to score conversations',
  keys: 'API keys of the workspace',
  providers: 'provider keys of the workspace',
  projects: 'projects of the workspace',
  config: 'effective settings',
  types: 'TypeScript types of the prompts',
}

/** The headings of the help, with the first words of the commands below them. */
export const helpGroups: Readonly<Record<string, readonly string[]>> = {
  'Files and versions:': [
    'init',
    'status',
    'diff',
    'pull',
    'push',
    'publish',
    'revert',
    'rollback',
    'prompts',
    'versions',
  ],
  'Runs:': ['run', 'chat', 'attach', 'stop', 'conversations', 'logs', 'annotate', 'evaluations'],
  'Code and CI:': ['check', 'types', 'import', 'export'],
  'Account and server:': ['login', 'logout', 'whoami', 'projects', 'keys', 'providers', 'serve'],
  'This program:': ['config', 'doctor', 'completion'],
}
