/** The requests to both servers. The size of a response does not depend on the amount of other data. */
import type { LoadRequest } from '../measuring/load.ts'
import { runRequest } from '../subjects/candidates.ts'
import type { Filled } from './filled-stet.ts'

export interface Asked {
  name: string
  /** Creates a new request each time, so that saved prompts and version names differ. */
  request(stet: Filled): LoadRequest
}

const project = '/api/v3/projects/1'
const live = `${project}/versions/live`
let made = 0

export const asked: readonly Asked[] = [
  read('GET document', () => `${live}/documents/bench`),
  read('GET documents by prefix', () => `${live}/documents?prefix=bench`),
  write(
    'POST create-or-update',
    ({ draftUuid }) => `${project}/versions/${draftUuid}/documents/create-or-update`,
    () => ({
      path: 'growth',
      prompt: `Hello ${next()}`,
    }),
  ),
  read('GET document of a draft', ({ draftUuid }) => `${project}/versions/${draftUuid}/documents/bench`),
  read('GET diff of a draft', ({ draftUuid }) => `${project}/versions/${draftUuid}/diff`),
  read('GET version', () => live),
  write(
    'POST version',
    () => `${project}/versions`,
    () => ({ name: `growth ${next()}` }),
  ),
  { name: 'POST run', request: ({ headers }) => runRequest(false, headers, { latencyMs: 0 }) },
  write(
    'POST log',
    () => `${live}/documents/logs`,
    () => ({ path: 'bench', messages: [] }),
  ),
  read('GET conversations', () => '/api/v3/conversations?limit=2'),
  read('GET conversations of a project', () => '/api/v3/conversations?limit=2&projectId=1'),
  read('GET conversation', ({ conversationUuid }) => `/api/v3/conversations/${conversationUuid}`),
  read('GET annotations', ({ conversationUuid }) => `/api/v3/conversations/${conversationUuid}/annotations`),
  read('GET evaluations', () => '/api/v3/evaluations?projectId=1'),
  read('GET projects', () => '/api/v3/projects'),
]

function next(): number {
  made += 1
  return made
}

function read(name: string, path: (stet: Filled) => string): Asked {
  return { name, request: (stet) => ({ method: 'GET', path: path(stet), headers: stet.headers }) }
}

function write(name: string, path: (stet: Filled) => string, body: () => object): Asked {
  return {
    name,
    request: (stet) => ({
      method: 'POST',
      path: path(stet),
      headers: { ...stet.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body()),
    }),
  }
}
