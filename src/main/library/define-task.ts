/** `app.task` as TypeScript sees it: what a task may say, what its function gets, and what its handle stands for. */
import type { AsJson } from './as-json.ts';
import type { DependsOn, UpstreamFailure } from './flow-options.ts';
import type { AnyTask, ItemTask, TaskHandle } from './task-handle.ts';
import type {
  FunctionTask,
  GivenFunctionTask,
  HandlerTask,
  ItemFunctionTask,
  ItemHandlerTask,
  ItemModuleTask,
  ModuleTask,
  TaskFunction,
} from './task-options.ts';

export interface DefineTask {
  <
    Item,
    Output,
    const Tasks extends readonly AnyTask[] = readonly [],
    Policy extends UpstreamFailure = 'skip',
  >(
    spec: ItemFunctionTask<Item> & DependsOn<Tasks, Policy>,
    run: TaskFunction<AsJson<NoInfer<Item>>, Output, NoInfer<Tasks>, NoInfer<Policy>>,
  ): ItemTask<AsJson<Item>, Output>;
  <
    Input extends object,
    Output,
    const Tasks extends readonly AnyTask[] = readonly [],
    Policy extends UpstreamFailure = 'skip',
  >(
    spec: GivenFunctionTask<NoInfer<Input>> & DependsOn<Tasks, Policy>,
    run: TaskFunction<Input, Output, NoInfer<Tasks>, NoInfer<Policy>>,
  ): TaskHandle<Partial<Input> | undefined, Output>;
  <
    Input,
    Output,
    const Tasks extends readonly AnyTask[] = readonly [],
    Policy extends UpstreamFailure = 'skip',
  >(
    spec: FunctionTask<NoInfer<Input>> & DependsOn<Tasks, Policy>,
    run: TaskFunction<Input, Output, NoInfer<Tasks>, NoInfer<Policy>>,
  ): TaskHandle<Input, Output>;
  <Item = unknown, Output = unknown>(
    spec: ItemModuleTask<Item> & DependsOn<readonly AnyTask[]>,
  ): ItemTask<Item, Output>;
  <Input = unknown, Output = unknown>(
    spec: ModuleTask<Input> & DependsOn<readonly AnyTask[]>,
  ): TaskHandle<Input, Output>;
  (spec: ItemHandlerTask & DependsOn<readonly AnyTask[]>): ItemTask<never, unknown>;
  (
    spec: HandlerTask & DependsOn<readonly AnyTask[]>,
  ): TaskHandle<Readonly<Record<string, unknown>> | undefined, unknown>;
}
