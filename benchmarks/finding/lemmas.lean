theorem app_nil : ∀ (x : L), app x .nil = x := by
  intro x
  induction x with
  | nil => rfl
  | cons h t ih => simp [app, ih]

theorem app_assoc : ∀ (x y z : L), app (app x y) z = app x (app y z) := by
  intro x y z
  induction x with
  | nil => rfl
  | cons h t ih => simp [app, ih]

theorem rev_app : ∀ (x y : L), rev (app x y) = app (rev y) (rev x) := by
  intro x y
  induction x with
  | nil => simp [app, rev, app_nil]
  | cons h t ih => simp [app, rev, ih, app_assoc]

theorem rev_rev : ∀ (x : L), rev (rev x) = x := by
  intro x
  induction x with
  | nil => rfl
  | cons h t ih => simp [rev, rev_app, ih, app]

theorem len_app : ∀ (x y : L), len (app x y) = len x + len y := by
  intro x y
  induction x with
  | nil => simp [app, len]
  | cons h t ih => simp [app, len, ih, Nat.add_assoc, Nat.add_comm, Nat.add_left_comm]

theorem len_rev : ∀ (x : L), len (rev x) = len x := by
  intro x
  induction x with
  | nil => rfl
  | cons h t ih => simp [rev, len_app, len, ih]

theorem sum_app : ∀ (x y : L), sum (app x y) = sum x + sum y := by
  intro x y
  induction x with
  | nil => simp [app, sum]
  | cons h t ih => simp [app, sum, ih, Nat.add_assoc]

theorem sum_rev : ∀ (x : L), sum (rev x) = sum x := by
  intro x
  induction x with
  | nil => rfl
  | cons h t ih => simp [rev, sum_app, sum, ih, Nat.add_comm]

theorem map_app : ∀ (f : Nat → Nat) (x y : L), map f (app x y) = app (map f x) (map f y) := by
  intro f x y
  induction x with
  | nil => rfl
  | cons h t ih => simp [app, map, ih]

theorem map_rev : ∀ (f : Nat → Nat) (x : L), map f (rev x) = rev (map f x) := by
  intro f x
  induction x with
  | nil => rfl
  | cons h t ih => simp [rev, map, map_app, ih]

theorem len_map : ∀ (f : Nat → Nat) (x : L), len (map f x) = len x := by
  intro f x
  induction x with
  | nil => rfl
  | cons h t ih => simp [map, len, ih]

theorem map_map : ∀ (f g : Nat → Nat) (x : L), map f (map g x) = map (fun n => f (g n)) x := by
  intro f g x
  induction x with
  | nil => rfl
  | cons h t ih => simp [map, ih]

theorem snoc_app : ∀ (x : L) (n : Nat), snoc x n = app x (.cons n .nil) := by
  intro x n
  induction x with
  | nil => rfl
  | cons h t ih => simp [snoc, app, ih]

theorem rev_snoc : ∀ (x : L) (n : Nat), rev (snoc x n) = .cons n (rev x) := by
  intro x n
  induction x with
  | nil => rfl
  | cons h t ih => simp [snoc, rev, ih, app]

theorem len_snoc : ∀ (x : L) (n : Nat), len (snoc x n) = len x + 1 := by
  intro x n
  induction x with
  | nil => rfl
  | cons h t ih => simp [snoc, len, ih]

theorem double_add : ∀ (n m : Nat), double n = m → len (app (.cons n .nil) (.cons m .nil)) = 2 := by
  intro n m h
  rfl
