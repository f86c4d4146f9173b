/** Router links in the form of Mantine components. */

import { Anchor, type AnchorProps, Button, type ButtonProps, Menu, type MenuItemProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

type Plain<Own> = Own & Omit<ComponentPropsWithRef<"a">, keyof Own>;

export const AnchorLink = createLink((props: Plain<AnchorProps>) => <Anchor {...props} />);

export const ButtonLink = createLink((props: Plain<ButtonProps>) => <Button component="a" {...props} />);

export const MenuItemLink = createLink((props: Plain<MenuItemProps>) => <Menu.Item component="a" {...props} />);
