/** The face of the actor kernel: what the rest of the project uses of it. */
export type {
  ActorContext,
  ActorDefinition,
  ActorStats,
  Answer,
  AnyActorDefinition,
  Behaviour,
  SystemView,
} from './actor.ts';
export { DEFAULT_ASK_TIMEOUT_MS, type RemoteGate } from './actor-ref.ts';
export { ActorSystem, type ActorSystemOptions } from './actor-system.ts';
export { estimateBytes } from './body-size.ts';
export { budgetShare, HEAP_BYTES } from './budget-share.ts';
export { checkSchema, type SchemaPath, type SchemaProblem, withDefaults } from './check-schema.ts';
export { type Clock, type ClockTimer, systemClock } from './clock.ts';
export { GarbageCollector, usedHeapBytes } from './collect-garbage.ts';
export { type ChannelStats, type Credit, DEFAULT_CREDIT } from './credit-channel.ts';
export { describeSchema, describeValue } from './describe-schema.ts';
export {
  type ActorRef,
  Delivery,
  type Envelope,
  type EnvelopeOf,
  type Messages,
  type Reply,
} from './envelope.ts';
export {
  assertNever,
  ColibriError,
  cutText,
  ERROR_CODES,
  ERROR_TEXT_LIMIT,
  type ErrorCode,
  type ErrorData,
  fromErrorData,
  toErrorData,
  withoutStack,
} from './errors.ts';
export { type Ffi, loadFfi, nativeFunction } from './ffi.ts';
export { fnv1a } from './fnv.ts';
export { HugePages, hugePages } from './huge-pages.ts';
export type { JsonSchema } from './json-schema.ts';
export { setLimit } from './limit-timer.ts';
export { LinkedHashMap } from './linked-hash-map.ts';
export { type LoopDelay, LoopDelaySampler } from './loop-delay.ts';
export { lostKind } from './lost-kind.ts';
export {
  Mailbox,
  type MailboxOptions,
  type MailboxPolicy,
  SENT,
  type Watermark,
  WhenMailboxFull,
} from './mailbox.ts';
export { MemoryShort } from './memory-short.ts';
export { didYouMean, editDistance, nearestName } from './nearest-name.ts';
export { printable } from './printable.ts';
export { Ring } from './ring.ts';
export { SharedMark } from './shared-mark.ts';
export { DEFAULT_RESTART, type RestartIntensity, RestartWindow } from './supervisor.ts';
export { TestClock } from './test-clock.ts';
export { errorBytes, textBytes } from './text-bytes.ts';
export { type HostData, runThreadHost, type ThreadHostOptions } from './thread-host.ts';
export type { Heartbeat } from './thread-life.ts';
export { ThreadLink } from './thread-link.ts';
export { type ThreadLinkOptions, ThreadState, type ThreadStats } from './thread-link-options.ts';
export { lookAtThread, placeText, type ThreadSight, tellOwner } from './thread-sight.ts';
export { type Undeliverable, UndeliverableReason, type UndeliverableView } from './undeliverable.ts';
export { encodeEnvelope, encodeReply, isReplyText, type ReplyEnvelope } from './wire.ts';
