import { linkOptions } from '@tanstack/react-router'
import type { IconName } from '../../../ui/icon.tsx'
import { toPrompts } from '../../addresses.ts'
import { useProjectId, useVersion } from '../place.ts'

interface Place {
  name: string
  icon: IconName
  keys: string
  /** Why it cannot be opened now. */
  blocked: string | false
  /** Where addresses of the screen start that do not start with its own. */
  start?: string
}

/** The screens of the rail, and the keys that lead to them. */
export function usePlaces() {
  const projectId = useProjectId()
  const project = String(projectId)
  const needsProject = projectId === null && 'open a project first'
  const place = (name: string, icon: IconName, keys: string, blocked: string | false = needsProject): Place => {
    return { name, icon, keys, blocked }
  }
  return linkOptions([
    { ...place('Prompts', 'prompts', 'g p'), ...toPrompts(project, useVersion()) },
    { ...place('Overview', 'overview', 'g o'), to: '/p/$project/overview', params: { project } },
    { ...place('Runs', 'run', 'g r'), start: '/runs/', to: '/p/$project/runs', params: { project } },
    { ...place('History', 'history', 'g h'), to: '/p/$project/history', params: { project } },
    {
      ...{ ...place('Settings', 'settings', 'g s', false), start: '/settings/' },
      // The address of a page, because the server has none for all settings.
      ...{ to: '/settings/$page', params: { page: 'keys' } },
    },
  ])
}
