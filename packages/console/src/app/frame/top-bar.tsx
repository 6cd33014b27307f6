import { useParams } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { keyText } from '../shortcuts.ts'
import css from './frame.module.css'
import { openOverlay } from './overlays.tsx'
import { useProjectId } from './place.ts'
import { ProjectSwitch } from './switches/project-switch.tsx'
import { VersionSwitch } from './switches/version-switch.tsx'

/** Where the user is, and the actions of the screen. */
export function TopBar({ slot }: { slot: (element: HTMLElement | null) => void }) {
  const { version } = useParams({ strict: false })
  const projectId = useProjectId()
  return (
    <div className={css['bar']}>
      <div className={css['barProject']}>
        <ProjectSwitch />
      </div>
      {projectId !== null && version && <VersionSwitch projectId={projectId} version={version} />}
      <div className={css['barEnd']}>
        <Button
          look="quiet"
          className={css['find'] ?? ''}
          aria-keyshortcuts="Control+K Meta+K"
          shortcut={keyText('mod+k')}
          onClick={() => openOverlay('palette')}
        >
          <Icon name="search" />
          <span className={css['findText']}>Find</span>
        </Button>
        <div ref={slot} className={css['slot']} />
      </div>
    </div>
  )
}
