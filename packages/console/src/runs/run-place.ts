/** The prompt of a run pane, for the parts that link to prompts. */
import type { Prompt } from '@stet/sdk'
import { createContext } from 'react'
import { stet } from '../app/session.ts'

export interface RunPlace {
  projectId: number
  versionUuid: string
  /** The paths of the prompts that the prompt offers to the model as tools. */
  agents: readonly string[]
  /** Client tools whose results are entered in the pane. */
  tools: readonly string[]
  /** Shows a place of a prompt in the editor. */
  onLine: (path: string, line: number, column: number) => void
}

export const RunPlaceContext = createContext<RunPlace>({
  projectId: 0,
  versionUuid: '',
  agents: [],
  tools: [],
  onLine: () => {},
})

/** The paths are written relative to the prompt's folder, like addresses of a site. */
export function agentPaths(config: Prompt['config'], path: string): string[] {
  const written = config['agents']
  const folder = new URL(path, 'http://localhost/')
  return (Array.isArray(written) ? written : []).map((agent) =>
    decodeURIComponent(new URL(String(agent), folder).pathname.slice(1)).replace(/\.promptl$/, ''),
  )
}

/** The path of the agent that the model calls by a name. An agent without a `name` is called by its path. */
export async function agentCalled(name: string, { projectId, versionUuid, agents }: RunPlace): Promise<string | null> {
  const unnamed = agents.find((path) => `lat_agent_${path}`.replace(/[^\w-]/g, '_').slice(0, 64) === name)
  if (unnamed !== undefined) return unnamed
  for (const path of agents) {
    const { config } = await stet.prompts.get(path, { projectId, versionUuid })
    if (config['name'] === name) return path
  }
  return null
}
