import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { Hidden } from '../../../ui/button.tsx'
import { DeferredMenu } from '../../../ui/deferred.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { projectsQuery } from '../../queries.ts'
import css from '../frame.module.css'
import { useProjectId } from '../place.ts'

const load = () => import('./project-menu.tsx')
const ProjectMenu = lazy(load)

/** Shows the project and opens the list of projects. */
export function ProjectSwitch() {
  const current = useProjectId()
  const { data } = useQuery(projectsQuery)
  const name = data?.find(({ id }) => id === current)?.name ?? 'Projects'
  return (
    <DeferredMenu
      load={load}
      trigger={
        <button type="button" className={css['switch']} title={name}>
          <Hidden>Project: </Hidden>
          <span className={css['switchText']}>{name}</span>
          <Icon name="updown" size={14} />
        </button>
      }
    >
      {(trigger) => <ProjectMenu trigger={trigger} />}
    </DeferredMenu>
  )
}
