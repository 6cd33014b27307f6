import { lazy } from 'react'
import { DeferredMenu } from '../../../ui/deferred.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { useSession } from '../../session.ts'
import css from '../rail/rail.module.css'

const load = () => import('./user-menu.tsx')
const UserMenu = lazy(load)

/** Shows who is signed in, and opens what belongs to the person and this browser. */
export function UserSwitch() {
  const { apiKey, workspace } = useSession()
  return (
    <DeferredMenu
      load={load}
      trigger={
        <button type="button" className={css['user']} title={`${apiKey.author.name}, ${workspace.name}`}>
          <Icon name="person" />
          <span className={css['userText']}>
            <span className={css['userName']}>{apiKey.author.name}</span>
            <span className={css['userPlace']}>{workspace.name}</span>
          </span>
        </button>
      }
    >
      {(trigger) => <UserMenu trigger={trigger} />}
    </DeferredMenu>
  )
}
