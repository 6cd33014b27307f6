import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Trigger } from '../../../ui/deferred.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Menu, MenuGroup, MenuItem, MenuLink, MenuSeparator } from '../../../ui/menu.tsx'
import { projectsQuery } from '../../queries.ts'
import { useBlocked, useSession } from '../../session.ts'
import { openOverlay } from '../overlays.tsx'
import { useProjectId } from '../place.ts'

export default function ProjectMenu({ trigger }: { trigger: Trigger }) {
  const { data = [] } = useQuery(projectsQuery)
  const current = useProjectId()
  const isRestricted = useSession().apiKey.projectId !== null
  const needsWrite = useBlocked('write')
  return (
    <Menu trigger={trigger}>
      <MenuGroup label="Projects">
        {data.map(({ id, name }) => (
          <MenuLink
            key={id}
            link={<Link to="/p/$project/v/$version/prompts" params={{ project: String(id), version: 'live' }} />}
            note={id === current && <Icon name="check" />}
          >
            {name}
          </MenuLink>
        ))}
      </MenuGroup>
      <MenuSeparator />
      <MenuItem
        blocked={isRestricted ? 'your key is for this project only' : needsWrite}
        onSelect={() => openOverlay('new-project')}
      >
        New project…
      </MenuItem>
    </Menu>
  )
}
