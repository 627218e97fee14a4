"""What whoever writes hierarchies needs: rules made from columns, checks, and hierarchies as texts.

In go the values of a column and the records of each, out come rules, texts, and what a hierarchy
lacks. Imports the room of hierarchies alone.
"""
