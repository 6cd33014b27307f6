import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Hidden } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Menu, MenuGroup, MenuItem, MenuLink, MenuSeparator } from '../../../ui/menu.tsx'
import { toPrompts } from '../../addresses.ts'
import { projectsQuery } from '../../queries.ts'
import { useBlocked, useSession } from '../../session.ts'
import css from '../frame.module.css'
import { openOverlay } from '../overlays.tsx'
import { useProjectId } from '../place.ts'

/** Shows the project and opens the list of projects. */
export function ProjectSwitch() {
  const current = useProjectId()
  const { data = [] } = useQuery(projectsQuery)
  const isRestricted = useSession().apiKey.projectId !== null
  const needsWrite = useBlocked('write')
  const name = data.find(({ id }) => id === current)?.name ?? 'Projects'
  return (
    <Menu
      trigger={
        <button type="button" className={css['switch']} title={name}>
          <Hidden>Project: </Hidden>
          <span className={css['switchText']}>{name}</span>
          <Icon name="updown" size={14} />
        </button>
      }
    >
      <MenuLink link={<Link to="/" state={{ isHomeWanted: true }} />}>Home</MenuLink>
      <MenuGroup label="Projects">
        {data.map(({ id, name }) => (
          <MenuLink key={id} link={<Link {...toPrompts(id, 'live')} />} note={id === current && <Icon name="check" />}>
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
