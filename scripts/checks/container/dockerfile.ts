/** The commands of deploy/Dockerfile, so that the check runs the same ones. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Dockerfile {
  nodeVersion: string
  /** Files and folders of the repository that the build stage gets. */
  sources: string[]
  environment: NodeJS.ProcessEnv
  command: string[]
  healthcheck: string[]
}

export function readDockerfile(root: string): Dockerfile {
  const lines = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8').replaceAll('\\\n', ' ').split('\n')
  const after = (start: RegExp) => lines.filter((line) => start.test(line)).map((line) => line.replace(start, ''))
  const list = (start: RegExp) => JSON.parse(after(start)[0] ?? '[]') as string[]
  return {
    nodeVersion: after(/^ARG NODE_VERSION=/)[0] ?? '',
    sources: after(/^COPY (?!--)/).flatMap((copy) => copy.split(' ').slice(0, -1)),
    environment: Object.fromEntries(after(/^ENV /).flatMap((line) => line.split(' ').map((each) => each.split('=')))),
    command: list(/^CMD /),
    healthcheck: list(/^HEALTHCHECK .*? CMD /),
  }
}
