import type { Project, Stet } from '@stet/sdk'
import { CliError } from '../../exit-code.ts'

export function readProjectId(text: string, name: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new CliError('usage', `${name} must be a project id, not "${text}"`, { hint: 'run stet projects list' })
}

export async function findProject(client: Stet, id: number): Promise<Project> {
  const found = (await client.projects.list()).find((project) => project.id === id)
  if (found) return found
  throw new CliError('not_found', `Project ${id} not found`, { hint: 'run stet projects list' })
}

export function readRetentionDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= 3_650) return days
  throw new CliError('usage', `--retention-days must be from 1 to 3650, not "${text}"`)
}
