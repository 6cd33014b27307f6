import { execFileSync } from 'node:child_process'

const settings = ['user.name=Ana', 'user.email=ana@example.com', 'maintenance.auto=false', 'protocol.file.allow=always']

// Isolates git from user settings, which may sign or run hooks, and from the repository whose hook runs the tests.
const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }

export const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', [...settings.flatMap((one) => ['-c', one]), ...args], {
    cwd: folder,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()

export function commitAll(folder: string): string {
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'x')
  return git(folder, 'rev-parse', 'HEAD')
}
