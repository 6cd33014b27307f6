import { base } from '../../app/session.ts'
import { Code } from '../../ui/copy.tsx'
import { Empty } from '../../ui/states.tsx'
import { curlLines } from './call-lines.ts'

/** In the place of runs that do not exist: the command that makes the first one. */
export function NoRuns({ projectId, line }: { projectId: number; line: string }) {
  const server = base.href.replace(/\/$/, '')
  const call = { server, projectId, versionUuid: 'live', path: 'path/of/a/prompt', parameters: {} }
  return (
    <Empty line={line}>
      <p>Run a prompt in its editor, or call it from code:</p>
      <Code label="curl command" text={curlLines(call)} />
    </Empty>
  )
}
